import { parse, stringify } from 'yaml';

/** A stream of numbers between 0 and 1 that follows from its seed (Mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mix = Math.imul(state ^ (state >>> 15), state | 1);
    mix ^= mix + Math.imul(mix ^ (mix >>> 7), mix | 61);
    return ((mix ^ (mix >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Draw = () => number;

/** Texts that mean something to YAML, to expressions, to macros, or to nobody. */
const tokens = [
  ...['{', '}', '[', ']', ':', ': ', '- ', ',', '#', '&a ', '*a', '<<: *a\n', '!!map ', '|', '>-\n', "'", '"', '\\'],
  ...[
    '${',
    '}',
    '${args}',
    '${envvar:X}',
    '{N}',
    '{{',
    '$${',
    '\t',
    '\n',
    '\r\n',
    '\0',
    '\ufeff',
    '\u2028',
    '🙂',
    '\ud800',
  ],
  ...[
    '~',
    'null',
    'true',
    '.nan',
    '-.inf',
    '1e400',
    '99999999999999999999',
    '-0',
    '0x1F',
    '1_000',
    '2001-01-01',
    '__proto__',
  ],
  ...[
    '(((((',
    'N / 0',
    '1 ? 2',
    'a.map(x, x)',
    'size(',
    '"' + 'x'.repeat(300),
    '---\n',
    '...\n',
    '? x\n',
    '!!binary x',
  ],
];
const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    -1e308,
    2 ** 53,
    1e-320,
    '',
    ' ',
    'x',
    'N % 2 == 0',
    '[1, 2, 3].all(a, [1, 2, 3].all(b, [1, 2, 3].all(c, [1, 2, 3].all(d, a + b + c + d > N))))',
    '["aa"].map(a, a + a).map(b, b + b).map(c, c + c).size() > N',
    'string(N).matches("^(a+)+$")',
    'constructor == 1',
    '${envvar:__proto__}',
    'sweep.yaml',
    'code',
    '${run_dir}',
    '${nope}',
  ],
  ...[
    'a b/c',
    '../..',
    '1h',
    '20GB',
    '{N}',
    'x'.repeat(5000),
    '\u0000',
    [],
    {},
    [[]],
    [null],
    [1, [2]],
    [1, 2, 3],
    [[1], [2]],
  ],
  ...[{ a: 1 }, { values: [1, 2] }, { values: [] }, { value: 1, values: [2] }, { expr: 'N * 2' }, { min: 0, max: 1e9 }],
  ...[
    { min: 1, max: 3 },
    { min: 0.5, max: 2 },
    { distribution: 'normal' },
    { distribution: 'q_uniform', min: 0, max: 1, q: 1e-9 },
  ],
  ...[
    { parameters: { a: 1, b: { parameters: { c: [1, 2] } } } },
    { when: 'N > 1', values: [1, 2] },
    Array(300).fill(1),
  ],
  ...[
    { type: 'asha' },
    { type: 'hyperband', max_iter: 1, s: 1e9 },
    { max: 3 },
    { name: 'loss' },
    { exit: 0 },
    { file: 'x', where: 'y' },
  ],
];
const keys = [
  ...[
    'command',
    'parameters',
    'groups',
    'cases',
    'include',
    'exclude',
    'when',
    'method',
    'run_cap',
    'sample_seed',
    'name',
  ],
  ...[
    'needs',
    'optional',
    'retry',
    'timeout',
    'priority',
    'breaker',
    'metric',
    'early_terminate',
    'notify',
    'resources',
  ],
  ...[
    'stop_when',
    'done',
    'metrics',
    'extends',
    'env',
    'cwd',
    'program',
    'subgroup',
    'project',
    'N',
    'seed',
    'a.b',
    'constructor',
    'toString',
    'hasOwnProperty',
    '_-proto__',
    'valueOf',
  ],
];

/** A damaged version of one of the texts: a few characters, lines or parts of its structure are changed. */
export function mutant(texts: readonly string[], draw: Draw): string {
  const text = pick(texts, draw);
  const kind = draw();
  if (kind < 0.35) return repeated(text, draw, changedCharacters);
  if (kind < 0.6) return repeated(text, draw, changedLines);
  if (kind < 0.65) return spliced(text, pick(texts, draw), draw);
  return changedStructure(text, draw);
}

function repeated(text: string, draw: Draw, change: (text: string, draw: Draw) => string): string {
  let changed = text;
  for (let count = 1 + Math.floor(draw() * draw() * 8); count > 0; count -= 1) changed = change(changed, draw);
  return changed;
}

function changedCharacters(text: string, draw: Draw): string {
  const at = Math.floor(draw() * (text.length + 1));
  const length = draw() < 0.5 ? 0 : Math.ceil(draw() * draw() * 30);
  const put = draw() < 0.3 ? '' : draw() < 0.3 ? String.fromCharCode(Math.floor(draw() * 256)) : pick(tokens, draw);
  return text.slice(0, at) + put + text.slice(at + length);
}

function changedLines(text: string, draw: Draw): string {
  const lines = text.split('\n');
  const from = Math.floor(draw() * lines.length);
  const to = Math.floor(draw() * lines.length);
  const kind = draw();
  if (kind < 0.25) lines.splice(from, 1);
  else if (kind < 0.5) lines.splice(to, 0, lines[from]!);
  else if (kind < 0.75) [lines[from], lines[to]] = [lines[to]!, lines[from]!];
  else lines[from] = draw() < 0.5 ? `  ${lines[from]!}` : lines[from]!.replace(/^ {1,2}/, '');
  return lines.join('\n');
}

function spliced(left: string, right: string, draw: Draw): string {
  return left.slice(0, Math.floor(draw() * left.length)) + right.slice(Math.floor(draw() * right.length));
}

function changedStructure(text: string, draw: Draw): string {
  let tree: unknown;
  try {
    tree = parse(text, { merge: true, logLevel: 'silent' });
  } catch {
    return text;
  }
  for (let count = 1 + Math.floor(draw() * 3); count > 0; count -= 1) tree = changedNode(tree, draw);
  return draw() < 0.5 ? JSON.stringify(tree) : stringify(tree);
}

/** Changes one node somewhere below: the deeper, the more often. */
function changedNode(node: unknown, draw: Draw): unknown {
  if (typeof node !== 'object' || node === null || draw() < 0.1) return structuredClone(pick(values, draw));
  const entries: [string, unknown][] = Object.entries(node);
  const index = Math.floor(draw() * entries.length);
  const kind = draw();
  if (entries.length === 0 || kind < 0.12) entries.push([pick(keys, draw), structuredClone(pick(values, draw))]);
  else if (kind < 0.2) entries.splice(index, 1);
  else if (kind < 0.3) entries[index] = [pick(keys, draw), entries[index]![1]];
  else entries[index] = [entries[index]![0], changedNode(entries[index]![1], draw)];
  return Array.isArray(node) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

function pick<Item>(items: readonly Item[], draw: Draw): Item {
  return items[Math.floor(draw() * items.length)]!;
}
