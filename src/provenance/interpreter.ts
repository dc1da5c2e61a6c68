import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { headOrEmpty } from '../files/regular-file.js';
import { programFile } from '../processes/program-file.js';

/** What runs a run's code. `command`: the words that start it. */
export type Interpreter = { language: 'python' | 'node'; command: [string, ...string[]] };

type Place = { cwd: string; path: string };

/** Programs that start another one after their own options. */
const wrappers = /^(?:env|nohup|nice|ionice|time|timeout|stdbuf|exec|setsid|numactl|taskset|chrt|command)$/;
const shells = /^(?:ba|da|z|k|fi)?sh$/;
const pythons = /^(?:python|pypy)[\d.]*$/;
const nodes = /^(?:node|npx|npm|pnpm|yarn|tsx|ts-node)$/;
/** Programs that find the virtual environment of the project they stand in, when told to `run`. */
const projectRunners = /^(?:uv|poetry|pipenv|pdm|hatch)$/;
const condas = /^(?:conda|mamba|micromamba)$/;
/** A chain of scripts that start one another ends somewhere. */
const DEEPEST = 5;
/** Of a script, in which its interpreter is named, bytes. */
const HEAD = 512;

/**
 * The interpreter that a command comes down to, as far as its words and the first line of its script tell; null when
 * neither Python nor Node can be made out. Reads files, starts nothing.
 */
export function interpreterOf(argv: readonly string[], place: Place, depth = 0): Interpreter | null {
  const [program, ...rest] = withoutWrappers(argv);
  if (program === undefined || depth > DEEPEST) return null;
  const name = basename(program);
  if (pythons.test(name)) return { language: 'python', command: [program] };
  if (nodes.test(name)) return { language: 'node', command: [name === 'node' ? program : 'node'] };
  if (shells.test(name)) return ofShell(rest, place, depth);
  return rest[0] === 'run' ? ofRunner([program, ...rest], place, depth) : ofScript(program, place, depth);
}

/** `env A=1 nice -n 5 python x.py` → `python x.py`. */
function withoutWrappers(argv: readonly string[]): readonly string[] {
  const isBefore = (word: string) => wrappers.test(basename(word)) || /^(?:-|\d+[smhd]?$|[A-Za-z_]\w*=)/.test(word);
  const first = argv.findIndex((word) => !isBefore(word));
  return first < 0 ? [] : argv.slice(first);
}

function ofRunner(words: readonly [string, ...string[]], place: Place, depth: number): Interpreter | null {
  const name = basename(words[0]);
  if (projectRunners.test(name)) return ofProject(place.cwd);
  return condas.test(name) ? ofConda(words) : ofScript(words[0], place, depth);
}

function ofProject(cwd: string): Interpreter | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const python = join(folder, '.venv', 'bin', 'python');
    if (existsSync(python)) return { language: 'python', command: [python] };
    if (folder === dirname(folder)) return null;
  }
}

function ofConda(words: readonly string[]): Interpreter | null {
  const at = words.findIndex((word) => pythons.test(basename(word)));
  const [first, ...rest] = words.slice(0, at + 1);
  return first === undefined ? null : { language: 'python', command: [first, ...rest] };
}

/** `sh -c 'cd x && python train.py'`: the first program in the text that is known. */
function ofShell(words: readonly string[], place: Place, depth: number): Interpreter | null {
  const at = words.findIndex((word) => /^-\w*c$/.test(word));
  const text = at < 0 ? undefined : words[at + 1];
  if (text === undefined) return null;
  const programs = text.split(/[\s;&|()]+/).filter((word) => word !== '');
  const known = /(?:^|\/)(?:python[\d.]*|node|uv|poetry|conda|torchrun|accelerate|deepspeed)$/;
  const first = programs.findIndex((word) => known.test(word));
  return first < 0 ? null : interpreterOf(programs.slice(first), place, depth + 1);
}

/** A script names its interpreter in its first line. */
function ofScript(program: string, place: Place, depth: number): Interpreter | null {
  const file = fileOf(program, place);
  const head = file === null ? '' : headOrEmpty(file, HEAD).toString('latin1');
  if (!head.startsWith('#!')) return null;
  // pip writes this where the path of the interpreter is too long for a first line.
  const long = /^'''exec' "?([^"\n]*?\/python[\d.]*)"? /m.exec(head)?.[1];
  if (long !== undefined) return { language: 'python', command: [long] };
  // What pyenv puts in the place of torchrun and the like lies beside its python.
  const sibling = join(dirname(file!), 'python');
  if (/\bpyenv\b/.test(head) && existsSync(sibling)) return { language: 'python', command: [sibling] };
  const words = head.slice(2).split('\n', 1)[0]!.trim().split(/\s+/);
  return shells.test(basename(words[0]!)) ? null : interpreterOf(words, place, depth + 1);
}

/** The file that a command means; null when there is none. */
function fileOf(program: string, { cwd, path }: Place): string | null {
  if (program.includes('/')) return isAbsolute(program) ? program : resolve(cwd, program);
  return programFile(program, path, cwd);
}
