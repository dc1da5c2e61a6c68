import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { headOrEmpty, readRegularBytes, textOrNull } from '../files/regular-file.js';
import { programFile } from '../processes/program-file.js';
import { askProgram } from '../processes/short-call.js';

/** The packages that a run's code could import, and the files that pinned them. `unknown`: why the interpreter gave no answer. */
type Packages = {
  version: 1;
  python?: PythonPackages;
  node?: NodePackages;
  unknown?: string;
  /** SHA-256 hashes by path. */
  pinned: Record<string, string>;
};

type Place = { cwd: string; environment: Readonly<Record<string, string>> };

/**
 * Two interpreters with the same key have the same packages installed. Computing a key takes 50 µs, reading packages up to a
 * second.
 */
type PackageLookup = { key: string; read: (folders: readonly string[]) => Promise<Packages | null> };

/** Finds the interpreter that a command runs. */
export function packageLookup(argv: readonly string[], place: Place): PackageLookup {
  const interpreter = interpreterOf(argv, { cwd: place.cwd, path: place.environment['PATH'] ?? '' });
  return {
    key: JSON.stringify([place.cwd, place.environment['PATH'], interpreter]),
    read: (folders) => readPackages(interpreter, folders, place),
  };
}

/** Reads the packages; null: the command runs neither Python nor Node, and no file in the folders pins packages. */
async function readPackages(
  interpreter: Interpreter | null,
  folders: readonly string[],
  place: Place,
): Promise<Packages | null> {
  const pinned = lockFileHashes(folders);
  if (interpreter === null) return Object.keys(pinned).length === 0 ? null : { version: 1, pinned };
  return { version: 1, ...(await installed(interpreter, place)), pinned };
}

async function installed({ language, command }: Interpreter, place: Place): Promise<Partial<Packages>> {
  const answer = await (language === 'python' ? pythonPackages(command, place) : nodePackages(command, place));
  return typeof answer === 'string' ? { unknown: `${command.join(' ')}: ${answer}` } : { [language]: answer };
}

/** The installed direct dependencies of a Node program in a folder. */
type NodePackages = {
  version: string;
  /** `name@version` of the project; null: it has no package.json. */
  project: string | null;
  packages: Record<string, string>;
};

/** Time limit, ms. */
const PATIENCE_MS = 5000;
/** Size limit of a package.json in bytes. */
const LARGEST = 2 ** 22;

type Manifest = { name?: string; version?: string; dependencies?: object; devDependencies?: object };

/** The packages of a Node project. Never rejects; returns a text if there is no answer. */
async function nodePackages(command: Interpreter['command'], place: Place): Promise<NodePackages | string> {
  const answer = await said(command, ['--version'], place, PATIENCE_MS);
  if ('problem' in answer) return answer.problem;
  const version = answer.text.trim();
  const folder = folderOfProject(place.cwd);
  const manifest = folder === null ? null : readManifest(folder);
  if (folder === null || manifest === null) return { version, project: null, packages: {} };
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).sort();
  const installed = names.map((name) => [name, readManifest(join(folder, 'node_modules', name))?.version] as const);
  return {
    version,
    project: `${manifest.name ?? '(no name)'}@${manifest.version ?? '(no version)'}`,
    packages: Object.fromEntries(installed.map(([name, found]) => [name, found ?? 'not installed'])),
  };
}

/** The nearest folder with a package.json, upwards. */
function folderOfProject(start: string): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function readManifest(folder: string): Manifest | null {
  const text = textOrNull(join(folder, 'package.json'), LARGEST);
  if (text === null) return null;
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' ? read : null;
  } catch {
    return null;
  }
}

/**
 * The packages that a Python interpreter can import. Versions by name of the distribution; `1.2 @ file:///…` if it is not from an
 * index.
 */
type PythonPackages = {
  executable: string;
  version: string;
  prefix: string;
  packages: Record<string, string>;
};

/** Time limit, ms. */
const PYTHON_PATIENCE_MS = 10_000;

/** Lists the installed packages without importing them. The working directory is excluded from the search path. */
const script = `
import sys
sys.path[:] = [path for path in sys.path if path]
import json, platform
from importlib import metadata
found = {}
for each in metadata.distributions():
    try:
        name, version = each.metadata["Name"], each.version
        origin = each.read_text("direct_url.json")
        if origin:
            origin = json.loads(origin)
            version += " @ " + origin["url"] + ("#" + origin["vcs_info"]["commit_id"] if "vcs_info" in origin else "")
        if name and name not in found:
            found[name] = version
    except Exception:
        pass
names = sorted(found, key=str.lower)
print()
print(json.dumps({"executable": sys.executable, "version": platform.python_version(), "prefix": sys.prefix,
                  "packages": {name: found[name] for name in names}}))
`;

/**
 * Asks the interpreter itself, once, in the working directory and environment of the runs; takes about 0.1–1 s, in the background.
 * Never rejects; returns a text if there is no answer.
 */
async function pythonPackages(command: Interpreter['command'], place: Place): Promise<PythonPackages | string> {
  const answer = await said(command, ['-c', script], place, PYTHON_PATIENCE_MS);
  if ('problem' in answer) return answer.problem;
  try {
    return JSON.parse(answer.text.trimEnd().split('\n').at(-1)!) as PythonPackages;
  } catch {
    return 'it gave no list';
  }
}

async function said(
  [program, ...words]: Interpreter['command'],
  args: readonly string[],
  place: Place,
  patienceMs: number,
): Promise<{ text: string } | { problem: string }> {
  const answer = await askProgram({ program, args: [...words, ...args], ...place, patienceMs });
  if (answer.kind === 'answered') return { text: answer.stdout };
  return { problem: answer.kind === 'failed' ? answer.reason : `no answer within ${patienceMs / 1000} s` };
}

/** Files that pin installed packages. */
const pinning =
  /^(?:uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|pixi\.lock|conda-lock\.yml|pylock(?:\..+)?\.toml|requirements[\w.-]*\.txt|environment\.ya?ml|pyproject\.toml|package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|Cargo\.lock)$/;
/** Size limit in bytes. */
const LARGEST_LOCK_FILE = 64 * 2 ** 20;

/** SHA-256 of each such file in the folders, by path. */
function lockFileHashes(folders: readonly string[]): Record<string, string> {
  const hashes: Record<string, string> = {};
  for (const folder of new Set(folders)) {
    for (const name of namesIn(folder).filter((each) => pinning.test(each))) {
      const hash = hashOf(join(folder, name));
      if (hash !== null) hashes[join(folder, name)] = hash;
    }
  }
  return hashes;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** The hash of a file; null: it is missing, too large, or not readable. */
function hashOf(path: string): string | null {
  const read = readRegularBytes(path, LARGEST_LOCK_FILE);
  return read.kind === 'bytes' ? createHash('sha256').update(read.bytes).digest('hex') : null;
}

/** The interpreter of a run's code. `command`: the words that start it. */
type Interpreter = { language: 'python' | 'node'; command: [string, ...string[]] };

type SearchPath = { cwd: string; path: string };

/** Programs that start another one after their own options. */
const wrappers = /^(?:env|nohup|nice|ionice|time|timeout|stdbuf|exec|setsid|numactl|taskset|chrt|command)$/;
const shells = /^(?:ba|da|z|k|fi)?sh$/;
const pythons = /^(?:python|pypy)[\d.]*$/;
const nodes = /^(?:node|npx|npm|pnpm|yarn|tsx|ts-node)$/;
/** Programs whose `run` uses the virtual environment of the project around the working directory. */
const projectRunners = /^(?:uv|poetry|pipenv|pdm|hatch)$/;
const condas = /^(?:conda|mamba|micromamba)$/;
/** Limit on a chain of scripts that start one another. */
const DEEPEST = 5;
/** Bytes of a script in which its interpreter is named. */
const HEAD = 512;

/**
 * The interpreter that a command runs, as far as its words and the first line of its script show; null: it is neither Python nor
 * Node. Reads files, starts nothing.
 */
export function interpreterOf(argv: readonly string[], place: SearchPath, depth = 0): Interpreter | null {
  const [program, ...rest] = withoutWrappers(argv);
  if (program === undefined || depth > DEEPEST) return null;
  const name = basename(program);
  if (pythons.test(name)) return { language: 'python', command: [program] };
  if (nodes.test(name)) return { language: 'node', command: [name === 'node' ? program : 'node'] };
  if (shells.test(name)) return ofShell(rest, place, depth);
  return rest[0] === 'run' ? ofRunner([program, ...rest], place, depth) : ofScript(program, place, depth);
}

/** Removes wrapping programs: `env A=1 nice -n 5 python x.py` → `python x.py`. */
function withoutWrappers(argv: readonly string[]): readonly string[] {
  const isBefore = (word: string) => wrappers.test(basename(word)) || /^(?:-|\d+[smhd]?$|[A-Za-z_]\w*=)/.test(word);
  const first = argv.findIndex((word) => !isBefore(word));
  return first < 0 ? [] : argv.slice(first);
}

function ofRunner(words: readonly [string, ...string[]], place: SearchPath, depth: number): Interpreter | null {
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

/** The first known program in the text of `sh -c 'cd x && python train.py'`. */
function ofShell(words: readonly string[], place: SearchPath, depth: number): Interpreter | null {
  const at = words.findIndex((word) => /^-\w*c$/.test(word));
  const text = at < 0 ? undefined : words[at + 1];
  if (text === undefined) return null;
  const programs = text.split(/[\s;&|()]+/).filter((word) => word !== '');
  const known = /(?:^|\/)(?:python[\d.]*|node|uv|poetry|conda|torchrun|accelerate|deepspeed)$/;
  const first = programs.findIndex((word) => known.test(word));
  return first < 0 ? null : interpreterOf(programs.slice(first), place, depth + 1);
}

/** The interpreter in the first line of a script. */
function ofScript(program: string, place: SearchPath, depth: number): Interpreter | null {
  const file = fileOf(program, place);
  const head = file === null ? '' : headOrEmpty(file, HEAD).toString('latin1');
  if (!head.startsWith('#!')) return null;
  // pip writes this if the path of the interpreter is too long for the first line.
  const long = /^'''exec' "?([^"\n]*?\/python[\d.]*)"? /m.exec(head)?.[1];
  if (long !== undefined) return { language: 'python', command: [long] };
  // The shims of pyenv, such as that of torchrun, are beside its python.
  const sibling = join(dirname(file!), 'python');
  if (/\bpyenv\b/.test(head) && existsSync(sibling)) return { language: 'python', command: [sibling] };
  const words = head.slice(2).split('\n', 1)[0]!.trim().split(/\s+/);
  return shells.test(basename(words[0]!)) ? null : interpreterOf(words, place, depth + 1);
}

/** The file of a command's program; null: there is none. */
function fileOf(program: string, { cwd, path }: SearchPath): string | null {
  if (program.includes('/')) return isAbsolute(program) ? program : resolve(cwd, program);
  return programFile(program, path, cwd);
}
