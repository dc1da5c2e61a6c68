import { mostRuns } from '../../expand/compile-block.js';
import { macroNames } from '../../expand/command-words.js';
import { flow, holdsMacro, type ImportNote, textValues, type Written, type WrittenMap } from '../sweep-text.js';
import { ENV_OPEN, type Piece, type Text, wordOf } from './script-values.js';

/** One command that a script would start, at one point of its loops. */
export type Launch = {
  /** Where the command stands in the script; launches of one place are a group. */
  readonly site: number;
  readonly line: number;
  readonly words: readonly Text[];
  readonly env: ReadonlyMap<string, Text>;
  readonly cwd: Text | null;
  /** The value of each parameter, the outermost loop first. */
  readonly bindings: ReadonlyMap<string, string>;
  /** Parameters that count the loops around it; others are made of them. */
  readonly loops: readonly string[];
  /** Further keys of the group. */
  readonly keys: WrittenMap;
  /** What it waits for. */
  readonly after: readonly Launch[];
};

/** A group of a sweep file, and the launches that it stands for. */
export type LaunchGroup = {
  readonly keys: WrittenMap;
  readonly launches: readonly Launch[];
  readonly names: readonly string[];
  readonly notes: readonly ImportNote[];
};

/** The groups of the launches of one place: one with parameters, or one for each launch where their words do not correspond. */
export function groupsOf(given: readonly Launch[]): LaunchGroup[] {
  const launches = corresponding(given);
  const [first] = launches;
  const template = templateOf(first!);
  const isUniform =
    template !== null && launches.every((launch) => templateOf(launch) === template && hasTrueNames(launch));
  if (!isUniform) {
    return launches.map((launch) => ({ keys: explicitKeys(launch), launches: [launch], names: [], notes: [] }));
  }
  const used = namesIn(first!);
  const byUse = distinct(launches, used);
  // Loops that the command does not mention repeat it.
  const names = byUse.length === launches.length ? used : orderedNames(first!, new Set([...used, ...first!.loops]));
  const kept = distinct(launches, names);
  const values = names.map((name) => kept.map(({ bindings }) => bindings.get(name)!));
  refuseOddValues(values.flat());
  const keys = { ...keysOf(first!, renamed(names)), ...parametersOf(names, values) };
  return [{ keys, launches: kept, names: names.map(renamedName), notes: repeatNotes(launches, kept) }];
}

/** Launches in which every word that differs in a way of its own, such as by a counter, is a parameter. */
function corresponding(launches: readonly Launch[]): readonly Launch[] {
  const [first] = launches;
  const shapeOf = ({ words, env }: Launch) => JSON.stringify([words.length, [...env.keys()]]);
  if (launches.some((launch) => shapeOf(launch) !== shapeOf(first!))) return launches;
  const odd = first!.words.map((_, index) => isOdd(launches.map(({ words }) => words[index]!)));
  const oddEnv = new Set([...first!.env.keys()].filter((name) => isOdd(launches.map(({ env }) => env.get(name)!))));
  if (!odd.includes(true) && oddEnv.size === 0) return launches;
  const taken = new Set(launches.flatMap(({ bindings }) => [...bindings.keys()]));
  const names = odd.map((isIt, index) => (isIt ? freeName(optionBefore(first!.words, index), taken) : ''));
  return launches.map((launch) => {
    const bindings = new Map(launch.bindings);
    const bound = (name: string, { text }: Text): Text => {
      bindings.set(name, text);
      return { text, pieces: [{ parameter: name, text }] };
    };
    const words = launch.words.map((word, index) => (odd[index] ? bound(names[index]!, word) : word));
    const env = new Map([...launch.env].map(([name, text]) => [name, oddEnv.has(name) ? bound(name, text) : text]));
    return { ...launch, words, env, bindings };
  });
}

/** Whether texts are not made of the same parameters. */
function isOdd(texts: readonly Text[]): boolean {
  const shapes = new Set(texts.map(({ pieces }) => (pieces === null ? null : shapeOfPieces(pieces))));
  const isPlain = texts.every(({ text }) => !text.includes(ENV_OPEN));
  return isPlain && (shapes.size > 1 || shapes.has(null));
}

function optionBefore(words: readonly Text[], index: number): string {
  const [, own] = /^-*([A-Za-z_][\w-]*)=/.exec(words[index]!.text) ?? [];
  const [, before] = /^--?([A-Za-z_][\w-]*)$/.exec(words[index - 1]?.text ?? '') ?? [];
  return (own ?? before ?? 'value').replaceAll('-', '_');
}

function freeName(wanted: string, taken: Set<string>): string {
  let free = wanted;
  while (taken.has(free)) free = `${free}_`;
  taken.add(free);
  return free;
}

function repeatNotes(launches: readonly Launch[], kept: readonly Launch[]): ImportNote[] {
  if (launches.length === kept.length) return [];
  const text = `the same values are there more than once: ${launches.length} commands are ${kept.length} runs. Repeat runs with a seed.`;
  return [{ line: launches[0]!.line, text }];
}

/** The pieces of everything that a launch says; null: some of it is not made of parameters. */
function templateOf({ words, env, cwd }: Launch): string | null {
  const all = [...words, ...env.values(), ...(cwd === null ? [] : [cwd])];
  if (all.some(({ pieces }) => pieces === null)) return null;
  return JSON.stringify([all.map(({ pieces }) => shapeOfPieces(pieces!)), [...env.keys()]]);
}

function shapeOfPieces(pieces: readonly Piece[]): string {
  const named = pieces.map((piece) => (typeof piece === 'object' && 'parameter' in piece ? [piece.parameter] : piece));
  return JSON.stringify(named);
}

/** Whether the parameters have these values at the end: an inner loop may have reused the name of an outer one. */
function hasTrueNames({ words, env, bindings }: Launch): boolean {
  const pieces = [...words, ...env.values()].flatMap((text) => text.pieces ?? []);
  return pieces.every(
    (piece) => typeof piece === 'string' || !('parameter' in piece) || bindings.get(piece.parameter) === piece.text,
  );
}

function namesIn(launch: Launch): string[] {
  const texts = [...launch.words, ...launch.env.values(), ...(launch.cwd === null ? [] : [launch.cwd])];
  const used = texts
    .flatMap(({ pieces }) => pieces ?? [])
    .flatMap((piece) => (typeof piece === 'object' && 'parameter' in piece ? [piece.parameter] : []));
  return orderedNames(launch, new Set(used));
}

function orderedNames({ bindings }: Launch, names: ReadonlySet<string>): string[] {
  return [...bindings.keys()].filter((name) => names.has(name));
}

/** Launches with different values, the first of equal ones. */
function distinct(launches: readonly Launch[], names: readonly string[]): Launch[] {
  const seen = new Map(
    launches.map((launch) => [JSON.stringify(names.map((name) => launch.bindings.get(name))), launch]).reverse() as [
      string,
      Launch,
    ][],
  );
  const kept = new Set(seen.values());
  return launches.filter((launch) => kept.has(launch));
}

/** Names that mean something else in a command get an underscore. */
function renamedName(name: string): string {
  return macroNames.includes(name) ? `${name}_` : name;
}

function renamed(names: readonly string[]): (text: Text) => string {
  const known = new Set(names);
  return ({ pieces }) =>
    wordOf(
      (pieces ?? []).map((piece) =>
        typeof piece === 'object' && 'parameter' in piece && known.has(piece.parameter)
          ? { ...piece, parameter: renamedName(piece.parameter) }
          : piece,
      ),
    );
}

function keysOf(launch: Launch, wordFor: (text: Text) => string): WrittenMap {
  const env = [...launch.env].map(([name, text]) => [name, wordFor(text)] as const);
  return {
    command: launch.words.map(wordFor),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env) }),
    ...(launch.cwd === null ? {} : { cwd: wordFor(launch.cwd) }),
    ...launch.keys,
  };
}

/** The keys of a single launch with all its values in place. */
function explicitKeys(launch: Launch): WrittenMap {
  return keysOf(launch, ({ text, pieces }) => {
    const isForeign = text.includes(ENV_OPEN) && pieces !== null;
    return wordOf(
      isForeign
        ? pieces.map((piece) => (typeof piece === 'object' && 'parameter' in piece ? piece.text : piece))
        : [text],
    );
  });
}

/** The grid, if the launches are one in its order; else a case for each launch. */
function parametersOf(names: readonly string[], values: readonly (readonly string[])[]): WrittenMap {
  if (names.length === 0) return {};
  const axes = values.map((each) => [...new Set(each)]);
  const count = values[0]!.length;
  const size = axes.reduce((product, axis) => product * axis.length, 1);
  const isGrid =
    size === count && values.every((each, index) => each.every((value, at) => value === axisValue(axes, index, at)));
  if (isGrid) {
    return {
      parameters: Object.fromEntries(names.map((name, index) => [renamedName(name), single(textValues(axes[index]!))])),
    };
  }
  const written = values.map((each) => textValues([...new Set(each)]));
  const cases = Array.from({ length: count }, (_, at) =>
    Object.fromEntries(
      names.map((name, index): [string, Written] => [
        renamedName(name),
        written[index]![axes[index]!.indexOf(values[index]![at]!)]!,
      ]),
    ),
  );
  return { cases };
}

/** The value of an axis at a point of the grid, whose last axis varies fastest. */
function axisValue(axes: readonly (readonly string[])[], index: number, at: number): string {
  const inner = axes.slice(index + 1).reduce((product, axis) => product * axis.length, 1);
  return axes[index]![Math.floor(at / inner) % axes[index]!.length]!;
}

function single(values: Written[]): Written {
  return values.length === 1 ? values[0]! : values;
}

/** A value of a parameter that a sweep file would change. */
export class OddValue extends Error {
  override readonly name = 'OddValue';
}

function refuseOddValues(values: readonly string[]): void {
  const odd = values.find((value) => holdsMacro(value) || value.includes(ENV_OPEN) || value.includes('\0'));
  if (odd !== undefined) throw new OddValue(flow(odd.replaceAll(ENV_OPEN, '$').replace('\ue001', '')));
  if (values.length > mostRuns * 16) throw new OddValue('so many values');
}
