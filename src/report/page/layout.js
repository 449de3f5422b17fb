// Boxes in layers from top to bottom, each below everything that it needs.

/**
 * @param boxes [{id, width, height}]
 * @param edges [{from, to}], by id
 * @returns {places: Map(id -> {x, y, width, height}), width, height}
 */
export function layered(boxes, edges, gapX = 28, gapY = 44) {
  const byId = new Map(boxes.map((b) => [b.id, {...b, into: [], out: [], layer: 0}]));
  for (const {from, to} of edges) {
    if (from === to || !byId.has(from) || !byId.has(to)) continue;
    byId.get(from).out.push(to);
    byId.get(to).into.push(from);
  }
  const waiting = new Map([...byId.values()].map((b) => [b.id, b.into.length]));
  const ready = [...byId.values()].filter((b) => b.into.length === 0).map((b) => b.id);
  for (let i = 0; i < ready.length; ++i)
    for (const to of byId.get(ready[i]).out) {
      byId.get(to).layer = Math.max(byId.get(to).layer, byId.get(ready[i]).layer + 1);
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) === 0) ready.push(to);
    }
  // What only feeds later layers goes next to its first reader.
  for (const b of byId.values())
    if (b.into.length === 0 && b.out.length > 0)
      b.layer = Math.max(0, Math.min(...b.out.map((to) => byId.get(to).layer)) - 1);
  const layers = [];
  for (const b of byId.values()) (layers[b.layer] = layers[b.layer] || []).push(b);
  const rows = layers.filter(Boolean);
  order(rows, byId);
  return place(rows, gapX, gapY);
}

function order(rows, byId) {
  rows.forEach((row) => row.forEach((b, i) => b.position = i));
  const mean = (ids, otherwise) =>
      ids.length ? ids.reduce((sum, id) => sum + byId.get(id).position, 0) / ids.length : otherwise;
  for (let round = 0; round < 4; ++round)
    for (const row of round % 2 ? [...rows].reverse() : rows) {
      for (const b of row) b.wish = mean(round % 2 ? b.out : b.into, b.position);
      row.sort((a, b) => a.wish - b.wish || a.position - b.position);
      row.forEach((b, i) => b.position = i);
    }
}

function place(rows, gapX, gapY) {
  const widthOf = (row) => row.reduce((sum, b) => sum + b.width, 0) + gapX * (row.length - 1);
  const width = Math.max(1, ...rows.map(widthOf));
  const places = new Map();
  let y = 0;
  for (const row of rows) {
    let x = (width - widthOf(row)) / 2;
    const height = Math.max(...row.map((b) => b.height));
    for (const b of row) {
      places.set(b.id, {x, y: y + (height - b.height) / 2, width: b.width, height: b.height});
      x += b.width + gapX;
    }
    y += height + gapY;
  }
  return {places, width, height: Math.max(1, y - gapY)};
}
