/** What goes wrong with bytes on disks and wires, and what people who mean harm send. Each gives a changed copy. */
const harms: ((bytes: Buffer, below: (limit: number) => number) => Buffer)[] = [
  (bytes, below) => flipped(bytes, below, 1),
  (bytes, below) => flipped(bytes, below, 20),
  (bytes, below) => bytes.subarray(0, below(bytes.length)),
  (bytes, below) => Buffer.concat([bytes, bytes.subarray(below(bytes.length))]),
  (bytes, below) => spliced(bytes, below, Buffer.alloc(0)),
  (bytes, below) => spliced(bytes, below, Buffer.alloc(1 + below(64))),
  (bytes, below) => spliced(bytes, below, Buffer.from(words[below(words.length)]!)),
  (bytes, below) => numbered(bytes, words[below(words.length)]!, below),
  (bytes, below) => shuffled(bytes, below),
];

const words = [
  ...[
    '1e999',
    '-1',
    '9007199254740993',
    'null',
    'NaN',
    '{}',
    '[]',
    '""',
    '\n',
    '\r\n',
    '"__proto__":{"x":1},',
    '"constructor":{"prototype":1},',
    '"toString":1,',
    '\ud800',
  ],
  ...[
    '{"type":"snapshot","state":{}}',
    '{"type":"journal","version":5}',
    '../../etc/passwd',
    '['.repeat(5000),
    '\u0000',
  ],
];

/** The same for the same numbers. `random`: in [0, 1). */
export function mutant(bytes: Buffer, random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  let changed = Buffer.from(bytes);
  for (let times = 1 + below(3); times > 0; times--) changed = Buffer.from(harms[below(harms.length)]!(changed, below));
  return changed;
}

function flipped(bytes: Buffer, below: (limit: number) => number, count: number): Buffer {
  for (let n = 0; n < count && bytes.length > 0; n++) bytes[below(bytes.length)] = below(256);
  return bytes;
}

function spliced(bytes: Buffer, below: (limit: number) => number, insert: Buffer): Buffer {
  const from = below(bytes.length);
  return Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + below(40))]);
}

/** Another value in the place of some number. */
function numbered(bytes: Buffer, word: string, below: (limit: number) => number): Buffer {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/\b\d+\b/g)];
  const chosen = numbers[below(numbers.length)];
  if (chosen === undefined) return bytes;
  return Buffer.from(text.slice(0, chosen.index) + word + text.slice(chosen.index + chosen[0].length), 'latin1');
}

function shuffled(bytes: Buffer, below: (limit: number) => number): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const [a, b] = [below(lines.length), below(lines.length)];
  [lines[a], lines[b]] = [lines[b]!, lines[a]!];
  return Buffer.from(lines.join('\n'), 'latin1');
}
