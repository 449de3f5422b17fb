// A served page comes again when what it shows has changed.

export function followChanges() {
  const version = document.documentElement.getAttribute('data-served');
  if (!version) return;
  const ask = async () => {
    try {
      const answer = await fetch('changes?' + version, {cache: 'no-store'});
      if (answer.ok && (await answer.text()) === 'changed') return location.reload();
      setTimeout(ask, 400);
    } catch (error) {
      setTimeout(ask, 2000);
    }
  };
  ask();
}
