// The document with what follows from it: which arrays operations read, and which kernels there are after each step of
// the planner.
export class Model {
  constructor(json) {
    this.json = json;
    this.nodes = json.graph.nodes;
    this.outputs = new Set(json.graph.outputs);
    this.machine = json.machine;
    this.fused = json.plans.fused;
    this.unfused = json.plans.unfused;
    this.gpu = json.machine.kind === 'gpu';
    // An input that is an output too is copied.
    this.computing = this.nodes.filter((n) => n.kind === 'compute' || (n.kind === 'input' && this.outputs.has(n.id)))
                         .map((n) => n.id);
    this.sources = new Map();
    this.readers = new Map();
    for (const id of this.computing) {
      const from = new Set();
      for (const arg of this.nodes[id].args) this.behind(arg, from);
      if (this.nodes[id].kind === 'input') from.add(id);
      this.sources.set(id, from);
      for (const source of from) {
        if (!this.readers.has(source)) this.readers.set(source, []);
        this.readers.get(source).push(id);
      }
    }
    this.kernelsOf = new Map();
    this.fused.kernels.forEach((kernel, k) => kernel.nodes.forEach((id) => {
      if (!this.kernelsOf.has(id)) this.kernelsOf.set(id, []);
      this.kernelsOf.get(id).push(k);
    }));
    this.bench = json.bench ? json.bench.results[0] : null;
  }

  /** Arrays that a value is made of when views are looked through; constants take no memory. */
  behind(id, into) {
    const node = this.nodes[id];
    if (node.kind === 'compute' || node.kind === 'input')
      into.add(id);
    else
      for (const arg of node.args) this.behind(arg, into);
  }

  name(id) {
    const node = this.nodes[id];
    if (!node) return 'scratch';
    if (node.kind === 'input') return node.name || 'input';
    const at = this.json.graph.outputs.indexOf(id);
    const label = node.label && node.label !== node.op ? node.label + '.' + node.op : node.op;
    return at >= 0 ? (this.json.graph.outputs.length > 1 ? 'output ' + (at + 1) : 'output') : label + ' %' + id;
  }

  label(id) {
    const node = this.nodes[id];
    return node.label || node.op;
  }

  type(id) {
    const node = this.nodes[id];
    return node.dtype + (node.shape.length ? '[' + node.shape.join(', ') + ']' : '');
  }

  /** Operations of one call stand together: [{label, nodes}], in order. */
  calls(ids) {
    const made = new Map();
    for (const id of ids) {
      const call = this.nodes[id].call;
      const key = call === undefined ? 'n' + id : call;
      if (!made.has(key)) made.set(key, {label: this.label(id), nodes: []});
      made.get(key).nodes.push(id);
    }
    return [...made.values()];
  }

  title(ids) {
    const calls = this.calls(ids);
    const words = calls.slice(0, 4).map((c) => c.label + (c.nodes.length > 1 ? ' (' + c.nodes.length + ')' : ''));
    return words.join(', ') + (calls.length > 4 ? ', ' + (calls.length - 4) + ' more' : '');
  }

  /** The kernels after so many states of the replay; the last is the plan. */
  kernelsAt(state) {
    const {steps, states} = this.json.replay;
    if (state >= states.length - 1)
      return this.fused.kernels.map(
          (k, i) =>
              ({nodes: k.nodes, number: i, reads: k.reads.map((r) => r.node), writes: k.writes.map((w) => w.node)}));
    const groups = new Map(this.computing.map((id) => [id, {nodes: [id], copies: []}]));
    for (const step of steps.slice(0, states[state].steps)) {
      if (step.copies) {
        groups.get(step.into).copies = step.copies;
        continue;
      }
      const from = groups.get(step.from), into = groups.get(step.into);
      into.nodes = from.nodes.concat(into.nodes).sort((a, b) => a - b);
      from.nodes = [];
    }
    const all = [...groups.values()].map(
        (g) => ({own: new Set(g.nodes), nodes: [...new Set([...g.nodes, ...g.copies])].sort((a, b) => a - b)}));
    const home = new Map();
    all.forEach((g, i) => g.own.forEach((id) => home.set(id, i)));
    const read = new Set();
    for (const g of all) {
      const inside = new Set(g.nodes);
      g.reads = new Set();
      for (const id of g.nodes)
        for (const source of this.sources.get(id))
          if (!inside.has(source) || this.nodes[source].kind === 'input') g.reads.add(source), read.add(source);
    }
    return all
        .map((g) => ({
               nodes: g.nodes,
               reads: [...g.reads],
               writes: [...g.own].filter((id) => read.has(id) || this.outputs.has(id))
             }))
        .filter((g) => g.writes.length > 0);
  }

  /** What is known of a time: measured before predicted. */
  times() {
    const p = this.fused.predicted, b = this.bench;
    const shown = (side) => b && b[side] ? (this.gpu ? b[side].cold_ms : b[side].time_ms).median : null;
    return {
      measured: b ? {fused: shown('fused'), unfused: shown('unfused')} : null,
      predicted: p ? {fused: p.ms, unfused: p.unfused_ms} : null,
    };
  }
}
