/**
 * Names as a person would write them down: what they share once, and what differs in braces, as a shell expands it:
 * `A_N1024_B4_s{0,1,2}`. When that is wider than `width`: the first, the last and how many there are.
 */
export function compactNames(names: readonly string[], width: number): string {
  const [first, ...others] = names;
  if (first === undefined) return '';
  if (others.length === 0) return first;
  const braced = inBraces(names);
  if (braced.length <= width) return braced;
  return `${first} … ${others.at(-1)!} (${names.length})`;
}

function inBraces(names: readonly string[]): string {
  const start = wordStart(names, sharedStart(names));
  const rest = names.map((name) => name.slice(start));
  const end = wordStart(rest.map(reversed), sharedStart(rest.map(reversed)));
  const middle = rest.map((name) => name.slice(0, name.length - end));
  return `${names[0]!.slice(0, start)}{${middle.join(',')}}${end === 0 ? '' : rest[0]!.slice(-end)}`;
}

/** A number is not torn apart: `{16,1024}` and `{0,0.5}` instead of `1{6,024}` and `0{,.5}`. */
function wordStart(names: readonly string[], shared: number): number {
  const cut = (name: string) => /\d/.test(name[shared - 1] ?? '') && /[\d.]/.test(name[shared] ?? '');
  return names.some(cut) ? shared - /[\d.]*$/.exec(names[0]!.slice(0, shared))![0].length : shared;
}

function sharedStart(names: readonly string[]): number {
  const [first, ...others] = names;
  let length = 0;
  while (length < first!.length && others.every((name) => name[length] === first![length])) length += 1;
  return length;
}

function reversed(name: string): string {
  return [...name].reverse().join('');
}
