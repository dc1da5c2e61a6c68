import { Name } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { shellQuote } from '../../text/shell-words.js';
import { compileBlock, dependencyOrder, isInherited } from '../expand/compile-block.js';
import { identifierOf } from '../expand/expression/cel-environment.js';
import { compileExpression, ExpressionError } from '../expand/expression/expression.js';
import { fileMs, withinTime } from '../expand/expression/time-limit.js';
import { type Block, type NeededGroup, parameterNames } from './block.js';
import { blocksOf } from './blocks.js';
import { refuseLargeSweep } from './check-block.js';
import { programName, readCommandList } from './command-list.js';
import { diagnosticsError, type LocatedDiagnostic, locatedDiagnostic } from './diagnostic.js';
import { mistakesInEach, neededGroups } from './each-run.js';
import { schemaDiagnostics } from './schema-diagnostics.js';
import type { SweepFile } from './sweep-file.js';
import { SweepText } from './sweep-schema.js';
import { readToml } from './toml-source.js';
import { isWandbFile, readWandbText } from './wandb-file.js';
import { readYaml, type YamlSource } from './yaml-source.js';

/**
 * Parses a sweep file: YAML (`.yaml`, `.yml`, `.json`), TOML (`.toml`), else one command on each line.
 *
 * @param path For the default name of the sweep and for messages; this function opens nothing.
 * @throws {UserError} With all mistakes at once, each with its line and a mark below it.
 */
export function parseSweepFile(text: string, path: string): SweepFile {
  const other = otherFiles.find(({ ending }) => ending.test(path));
  if (other !== undefined) throw new UserError(`${path} is ${other.what}, and no list of commands.`, other.fix);
  return isStructured(path) ? parseYamlSweep(text, path) : parseCommandList(text, path);
}

/** Whether a file has keys and values, by the ending of its name. */
export function isStructured(path: string): boolean {
  return /\.(ya?ml|json|toml)$/i.test(path);
}

/** Files that must not be read as lists of commands. */
const otherFiles: readonly { ending: RegExp; what: string; fix: string }[] = [
  {
    ending: /\.(csv|tsv|jsonl|ndjson)$/i,
    what: 'a table',
    fix: 'Launch it with a command: `memrl-tui table.csv -- python train.py`.',
  },
  {
    ending: /\.(xlsx?|ods|parquet|feather|arrow)$/i,
    what: 'a table in a format that is not read',
    fix: 'Save it as CSV, and launch that: `memrl-tui table.csv -- python train.py`.',
  },
  {
    ending: /\.(py|ipynb|jl|R)$/,
    what: 'a program',
    fix: 'Make a sweep of it: `memrl-tui grid seed=0..4 -- python train.py`, or `memrl-tui init train.py`.',
  },
];

function isToml(path: string): boolean {
  return /\.toml$/i.test(path);
}

function parseYamlSweep(text: string, path: string): SweepFile {
  refuseLong(text, path, mostYaml);
  const source = readSource(text, path);
  if (source.value === null) throw emptyFile(path);
  const { sweep, notes, dialect } = sweepTextOf(source);
  refuseLargeSweep(sweep, path);
  const blocks = blocksOf(sweep, source, dialect);
  const compileAll = () => blockDiagnostics(blocks, source);
  const diagnostics = [...inexactNumbers(source), ...withinTime(`To read ${path}`, fileMs, compileAll)];
  if (diagnostics.length > 0) throw diagnosticsError(path, text, diagnostics);
  return {
    kind: 'groups',
    path,
    text,
    name: sweep.name ?? nameFrom(path),
    description: sweep.description ?? null,
    blocks,
    notify: sweep.notify ?? null,
    executor: sweep.executor ?? null,
    notes,
    placeOf: source.placeOf,
  };
}

/** Parses the file, which shows by its keys whether it is a W&B file; that is parsed again as W&B does. */
function readSource(text: string, path: string): YamlSource {
  const read = isToml(path) ? readToml(text, path) : readYaml(text, path);
  const isYamlOfWandb = 'value' in read && isWandbFile(read.value) && !isToml(path);
  const source = isYamlOfWandb ? readYaml(text, path, 'wandb') : read;
  if (!('value' in source)) throw diagnosticsError(path, text, source);
  return source;
}

type Said = { sweep: SweepText; notes: readonly string[]; dialect: Block['dialect'] };

function sweepTextOf(source: YamlSource): Said {
  const said = isWandbFile(source.value)
    ? readWandbText(source.value, { safeName, writtenAsDouble: source.writtenAsDouble })
    : SweepText.safeParse(source.value);
  if (!said.success) throw diagnosticsError(source.path, source.text, schemaDiagnostics(source, said.error.issues));
  return 'notes' in said
    ? { sweep: said.data, notes: said.notes, dialect: 'wandb' }
    : { sweep: said.data, notes: [], dialect: 'own' };
}

/** Length limits in characters. A larger file was not written by hand, and parsing it would take minutes. */
const mostYaml = 4_000_000;
const mostCommands = 64_000_000;

function refuseLong(text: string, path: string, most: number): void {
  if (text.length <= most) return;
  throw new UserError(
    `${path} has ${text.length.toLocaleString('en-US')} characters; the limit is ${most.toLocaleString('en-US')}.`,
    'Check that it is a sweep file. Long lists of values are better computed: {expr: "…"}.',
  );
}

function parseCommandList(text: string, path: string): SweepFile {
  refuseLong(text, path, mostCommands);
  refuseScript(text, path);
  const { lines, diagnostics } = readCommandList(text);
  if (diagnostics.length > 0) throw diagnosticsError(path, text, diagnostics);
  if (lines.length === 0) throw emptyFile(path);
  return { kind: 'commands', path, text, name: nameFrom(path), description: null, lines };
}

function emptyFile(path: string): UserError {
  return new UserError(
    `${path} is empty.`,
    'Write at least `command: [python, train.py, "${args}"]` and `parameters:`, or one command on each line of a text file.',
  );
}

/** The file's name without folders and ending, in characters that a folder name may have. */
function nameFrom(path: string): string {
  return safeName(path.replace(/^.*[/\\]/, '').replace(/(?<=.)\.[^.]*$/, ''));
}

function safeName(text: string): string {
  const safe = text
    .replace(/[^A-Za-z0-9._=+,@-]+/g, '-')
    .replace(/^[^A-Za-z0-9_]+/, '')
    .slice(0, 100);
  return Name.parse(safe === '' ? 'sweep' : safe);
}

/** Reports whole numbers beyond 2^53, which parsing would change silently; a seed must not change. */
function inexactNumbers(source: YamlSource): LocatedDiagnostic[] {
  const diagnostics: LocatedDiagnostic[] = [];
  const look = (value: unknown, keys: (string | number)[]): void => {
    if (typeof value === 'object' && value !== null) {
      Object.entries(value).forEach(([key, inner]) => look(inner, [...keys, Array.isArray(value) ? Number(key) : key]));
    } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && !source.writtenAsDouble(keys)) {
      const problem = 'this whole number is too large to be kept exactly.';
      diagnostics.push({
        place: source.placeOf(keys),
        keys,
        problem,
        fix: 'Put it in quotes; programs get the same text.',
      });
    }
  };
  look(source.value, []);
  return diagnostics;
}

function blockDiagnostics(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const diagnostic = locatedDiagnostic(source.placeOf);
  // A mistake above the groups is found again in every group that inherits it, and is reported once.
  const found = new Map<string, { diagnostic: LocatedDiagnostic; groups: string[] }>();
  for (const block of blocks) {
    compileBlock(block, (mistake) => {
      const key = JSON.stringify(mistake);
      const { groups } = found.get(key) ?? { groups: [] };
      found.set(key, { diagnostic: diagnostic(mistake), groups: [...new Set([...groups, block.group])] });
    });
  }
  const told = [...found.values()].map(({ diagnostic: one, groups }) =>
    one.keys[0] === 'groups' || groups.length === blocks.length
      ? one
      : { ...one, problem: `${one.problem} (In group ${groups.map((group) => `\`${group}\``).join(', ')}.)` },
  );
  return [
    ...told,
    ...diagnosticsAboutBudget(blocks, source),
    ...diagnosticsAboutProgress(blocks, source),
    ...diagnosticsAboutNeeds(blocks, source),
    ...blocks.flatMap((block) => mistakesInEach(block, blocks)).map(diagnostic),
  ];
}

/** Number of unknown names for which a hint is computed. */
const mostHints = 20;

/** Checks `extends` above the groups, which may name parameters that only some groups have. */
function diagnosticsAboutBudget(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const lists = new Map(blocks.map((block) => [JSON.stringify(block.extends.keys), block]));
  return [...lists.values()].flatMap((block) => {
    const { content, keys } = block.extends;
    const among = keys.length === 1 ? blocks : [block];
    const known = new Set(among.flatMap(parameterNames));
    return content
      .filter((name) => !known.has(name))
      .slice(0, mostHints)
      .map((name): LocatedDiagnostic => {
        const at = [...keys, content.indexOf(name)];
        const problem = `there is no parameter \`${name}\`. ${didYouMean(name, [...known])}`;
        return { place: source.placeOf(at), keys, problem, fix: 'List parameters of the sweep in `extends`.' };
      });
  });
}

/** Checks `metrics.progress` above the groups, which applies to groups with its parameters, so at least one must have them. */
function diagnosticsAboutProgress(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const inheriting = blocks.filter((block) => block.progress !== null && isInherited(block.progress, block));
  const [first] = inheriting;
  if (first?.progress === undefined || first.progress === null) return [];
  const names = namesIn(String(first.progress.content.total));
  const known = inheriting.map((block) => new Set(parameterNames(block).map(identifierOf)));
  if (known.some((all) => names.every((name) => all.has(name)))) return [];
  const every = [...new Set(known.flatMap((all) => [...all]))];
  const missing = names.find((name) => !every.includes(name));
  const problem =
    missing === undefined
      ? `no group has all of ${names.map((name) => `\`${name}\``).join(', ')}.`
      : `no group has a parameter \`${missing}\`. ${didYouMean(missing, every)}`;
  const keys = [...first.progress.keys, 'total'];
  return [{ place: source.placeOf(keys), keys, problem, fix: 'Say the total with parameters that a group has.' }];
}

/** Variables of an expression; empty if it cannot be compiled, which is reported elsewhere. */
function namesIn(text: string): readonly string[] {
  try {
    return compileExpression(text).names;
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

function diagnosticsAboutNeeds(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const known = new Map(blocks.map((block) => [block.group, block]));
  const unknown = blocks.flatMap((block) =>
    block.needs.slice(0, mostHints).flatMap((need): LocatedDiagnostic[] => {
      const keys = [...block.keys, 'needs', ...need.at];
      const mistake = mistakeInNeed(block, need, known);
      return mistake === null ? [] : [{ place: source.placeOf(keys), keys, ...mistake }];
    }),
  );
  const order = dependencyOrder(new Map(blocks.map((block) => [block.group, neededGroups(block)])));
  if (order.kind === 'order') return unknown;
  const at = ['groups', order.ring[0]!, 'needs'];
  const problem = `these groups wait for each other: ${order.ring.join(' → ')}.`;
  return [...unknown, { place: source.placeOfKey(at), keys: at, problem, fix: 'Remove one of these `needs`.' }];
}

/** What is wrong with a need; null: nothing. A need by parameters selects runs with the same values. */
function mistakeInNeed(
  block: Block,
  { group: name, by }: NeededGroup,
  known: ReadonlyMap<string, Block>,
): { problem: string; fix: string } | null {
  const needed = known.get(name);
  if (needed === undefined) {
    const others = [...known.keys()].filter((other) => other !== block.group);
    const problem = `there is no group \`${name}\`. ${didYouMean(name, others)}`;
    return { problem, fix: 'Name a group of this file in `needs`.' };
  }
  const open = [block, needed].find(
    ({ method: { content } }) => by.length > 0 && content.kind !== 'grid' && content.open,
  );
  if (open !== undefined) {
    const problem = `the points of group \`${open.group}\` are chosen one by one, and a need by parameters goes with points that are known at the launch.`;
    return { problem, fix: `Need the whole group (\`needs: [${name}]\`), or give both groups points of their own.` };
  }
  for (const { group, ...own } of [block, needed]) {
    const names = parameterNames(own);
    const missing = by.find((parameter) => !names.includes(parameter));
    if (missing === undefined) continue;
    const problem = `there is no parameter \`${missing}\` in group \`${group}\`. ${didYouMean(missing, names)}`;
    return { problem, fix: 'Name parameters that both groups have.' };
  }
  return null;
}

/** Words that change or control a shell: the lines after them depend on them, and no program has these names. */
const ofShell =
  /^(?:set|unset|export|cd|pushd|popd|source|\.|alias|shopt|trap|eval|exec|ulimit|umask|wait|exit|return|read|local|declare|typeset|readonly|shift|module|if|then|elif|else|fi|for|do|done|while|until|case|esac|select|function|\{|\}|\[\[)$/;
/** Commands that prepare what the next lines run in. */
const preparing = /^(?:conda|mamba|micromamba|pyenv|nvm|spack) (?:activate|deactivate|shell|use|load)\b/;
const functionHead = /^[A-Za-z_][\w-]*\s*\(\)/;
const recipe = /^[^\s#=:][^=:\n]*::?(?!=)[^\n]*\n(?:\s*(?:#[^\n]*)?\n)*\t\S/m;

/**
 * Refuses a program, whose lines follow each other, where a list of commands is expected: its lines would run at the same time.
 * A script is taken for a list if every line stands alone: each starts the same program, and none is for the shell.
 *
 * @throws {UserError} With the line that launches it as one run.
 */
function refuseScript(text: string, path: string): void {
  const interpreter = interpreterOf(text, path);
  if (interpreter === null) return;
  const [what, words] = interpreter;
  throw new UserError(
    `${path} is ${what}, and no list of commands: its lines follow each other, and as runs they would start together.`,
    `Launch it as one run: \`memrl-tui grid -- ${shellQuote([...words, path])}\`. In a list of commands every line stands alone.`,
  );
}

type Interpreter = readonly [what: string, words: readonly string[]];

/** Files of programs that run the recipes in them. */
const buildFiles: readonly { readonly name: RegExp; readonly is: Interpreter }[] = [
  { name: /^(?:GNU)?[Mm]akefile$|\.(?:mk|mak)$/, is: ['a Makefile', ['make', '-f']] },
  { name: /^[Jj]ustfile$/, is: ['a Justfile', ['just', '-f']] },
  { name: /^Snakefile$|\.smk$/, is: ['a Snakefile', ['snakemake', '-s']] },
];

/** What runs the file as a whole; null: it is a list of commands. */
function interpreterOf(text: string, path: string): Interpreter | null {
  const name = path.replace(/^.*\//, '');
  const build = recipe.test(text) ? buildFiles[0] : buildFiles.find((each) => each.name.test(name));
  if (build !== undefined) return build.is;
  const program = shebangProgram(text);
  if (program !== null && !/^(?:ba|z|k|da|fi)?sh$/.test(program)) return [`a program for ${program}`, [program]];
  const shell = program ?? /\.(sh|bash|zsh|ksh|fish)$/.exec(name)?.[1];
  if (shell !== undefined) return standsAlone(text) ? null : ['a script', [shell]];
  return hasShellLine(text) ? ['a script', ['bash']] : null;
}

/** The program after `#!`, without its folder; null: there is none. */
function shebangProgram(text: string): string | null {
  const line = /^#! *(\S.*)/.exec(text)?.[1];
  const program = line?.split(/\s+/).find((word) => !/\/env$|^-S$/.test(word));
  return program?.replace(/^.*\//, '') ?? null;
}

function standsAlone(text: string): boolean {
  const { lines, diagnostics } = readCommandList(text);
  const programs = new Set(lines.map(({ argv }) => programName(argv)));
  return diagnostics.length === 0 && programs.size <= 1 && !hasShellLine(text);
}

/** Whether a line is for the shell itself, or for Slurm. */
function hasShellLine(text: string): boolean {
  return text.split('\n').some((each) => {
    const line = each.trim();
    const first = /^\S+/.exec(line)?.[0].replace(/;$/, '') ?? '';
    return line.startsWith('#SBATCH ') || ofShell.test(first) || preparing.test(line) || functionHead.test(line);
  });
}
