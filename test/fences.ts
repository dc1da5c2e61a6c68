import { dirname, join, normalize } from 'node:path';
import * as ts from 'typescript';

/**
 * Who may use what. `rooms`: other rooms, besides the room itself, `base` and `text`; a folder of a room is named where only that one
 * may be used, or where a room has rooms of its own. `packages` and `node`: packages, and modules of Node. Types count, too. A
 * change here is a design decision.
 */
type Fence = { readonly rooms: string; readonly packages?: string; readonly node?: string };

/** What the whole window may use of what stands below it. */
const shown = 'client protocol query metrics logs analysis contract files';

/** The rooms of `src/`, from those that everybody may know up to those that know everybody. The first ten touch nothing outside. */
export const fences: Readonly<Record<string, Fence>> = {
  base: { rooms: '', packages: 'zod' },
  text: { rooms: '', packages: 'get-east-asian-width re2js' },
  contract: { rooms: '', packages: 'zod' },
  query: { rooms: '' },
  spec: { rooms: '', packages: 'zod yaml smol-toml re2js @marcbachmann/cel-js' },
  scheduler: { rooms: '', packages: 'zod' },
  protocol: { rooms: 'scheduler spec', packages: 'zod' },
  analysis: { rooms: 'contract' },
  // Opens safely what others have put on the disk: whoever reads the files of a run needs it.
  files: { rooms: 'contract', packages: 'zod', node: 'fs fs/promises path url os crypto timers/promises' },
  // Tells one process from another.
  processes: { rooms: 'contract files', node: 'fs path os crypto stream perf_hooks timers/promises' },
  metrics: { rooms: 'contract files', packages: 're2js yaml', node: 'fs path zlib' },
  logs: { rooms: 'contract files', packages: 'hyparquet', node: 'fs path timers/promises' },
  gpu: { rooms: 'contract files processes', packages: 'zod', node: 'fs path crypto' },
  provenance: {
    rooms: 'contract files processes',
    packages: 'zod',
    node: 'fs fs/promises path os crypto buffer',
  },
  executors: { rooms: 'contract files processes gpu', node: 'fs path os crypto url timers/promises' },
  launch: { rooms: 'scheduler spec protocol processes gpu executors', node: 'os' },
  supervisor: {
    rooms:
      'contract query spec analysis scheduler protocol files processes metrics logs gpu provenance executors launch',
    packages: 'zod',
    node: 'fs fs/promises path url os crypto net util perf_hooks timers/promises',
  },
  client: {
    rooms: 'protocol scheduler contract query files processes',
    packages: 'zod',
    node: 'fs path os crypto net stream',
  },
  runs: { rooms: 'contract spec analysis files metrics', packages: 'zod yaml', node: 'fs path' },
  // What is chosen knows nothing of the window; what a key does knows no screen; nothing uses `app`.
  'tui/state': { rooms: shown },
  'tui/terminal': { rooms: `${shown} tui/state`, node: 'fs' },
  'tui/surface': { rooms: `${shown} tui/state tui/terminal`, packages: 'ink react', node: 'stream zlib' },
  'tui/model': { rooms: `${shown} tui/state tui/surface`, packages: 'ink react' },
  'tui/widgets': { rooms: `${shown} tui/state tui/surface tui/model`, packages: 'ink react' },
  'tui/keys': { rooms: `${shown} tui/state tui/model tui/widgets`, packages: 'react' },
  'tui/screens': {
    rooms: `${shown} tui/state tui/surface tui/model tui/widgets tui/keys`,
    packages: 'ink react',
    node: 'path',
  },
  'tui/dialogs': {
    rooms: `${shown} tui/state tui/surface tui/model tui/widgets tui/keys tui/screens`,
    packages: 'ink react',
  },
  'tui/app': { rooms: `${shown} tui`, packages: 'ink react zod', node: 'path os' },
  report: {
    rooms: 'metrics logs analysis contract spec files runs',
    packages: '@observablehq/plot linkedom zod',
    node: 'fs path',
  },
  view: { rooms: 'metrics logs analysis contract spec files client runs', node: 'path timers/promises' },
  cli: {
    rooms:
      'contract query spec analysis scheduler protocol files processes metrics logs gpu provenance executors launch client runs tui report view',
    packages: 'zod yaml commander hyparquet-writer @modelcontextprotocol/server',
    node: 'fs fs/promises path url os crypto net events stream zlib readline/promises timers/promises async_hooks',
  },
  // A process beside a program of W&B.
  wandb: { rooms: 'metrics spec', packages: 'yaml', node: 'fs path os http net' },
  lab: {
    rooms: 'contract analysis',
    packages: 'zod yaml hyparquet @bufbuild/protobuf @huggingface/jinja @huggingface/tokenizers @tensorflow/tfjs-core',
    node: 'fs fs/promises path url os crypto http net events util zlib',
  },
  start: { rooms: '', node: 'fs path module' },
};

/**
 * Modules and rooms that only these files may use, or files of these folders: what starts programs, ends this one, runs foreign text,
 * or must be wrapped in one place.
 */
const doors: Readonly<Record<string, readonly string[]>> = {
  'node:child_process': [
    ...['processes/process-identity.ts', 'processes/process-table.ts', 'processes/short-call.ts'],
    ...['processes/started-program.ts', 'client/host.ts'],
    ...['lab/run/run-beginner.ts', 'lab/run/sweep-line.ts', 'wandb/main.ts'],
    // Its types alone.
    ...['client/ensure-supervisor.ts', 'client/host-link.ts', 'cli/hosts/elsewhere.ts'],
    ...['executors/local/attempt.ts'],
  ],
  'node:process': [
    ...['cli/viewed-paths.ts', 'files/disk-room.ts', 'files/output-file.ts', 'files/private-folder.ts'],
    ...['lab/environments/stories/parquet-stories.ts', 'lab/run/events-file.ts', 'provenance/provenance.ts'],
    'lab/tinker/server/step-time.ts',
    ...['report/report-cache.ts', 'spec/expand/expression/time-limit.ts', 'supervisor/core/steady-clock.ts'],
    ...['supervisor/core/turn-watch.ts', 'supervisor/publish/socket-server.ts', 'supervisor/reading/reader-link.ts'],
    ...['supervisor/reading/metrics-monitor.ts', 'tui/terminal/terminal-session.ts'],
  ],
  // Text of a person is run with a time limit.
  'node:vm': ['spec/expand/expression/time-limit.ts', 'logs/log-search.ts', 'start/program-parts.ts'],
  'node:v8': ['supervisor/core/large-heap.ts', 'tui/app/open-window.ts'],
  'node:worker_threads': [
    ...['supervisor/reading/reader-link.ts', 'supervisor/reading/reader-thread.ts', 'lab/engine/kernels/'],
    ...['lab/tinker/server/compute-thread.ts', 'lab/tinker/server/thread-calls.ts', 'start/program-parts.ts'],
  ],
  execa: ['processes/short-call.ts'],
  chokidar: ['supervisor/reading/file-reports.ts'],
  conf: ['files/preferences.ts'],
  // Of executors others know what all kinds share: `executor.ts`, `registry.ts` and `attempt/`.
  'executors/local': ['executors/registry.ts', 'executors/local/'],
  'executors/slurm': ['executors/registry.ts', 'executors/slurm/'],
  'executors/fake': ['executors/registry.ts', 'executors/fake/'],
};

/** Files that load what only the running program knows: modules of a person, packages that may be missing, parts of itself. */
const loaders = ['base/import-module.ts', 'start/program-parts.ts', 'lab/config/own-module.ts'];

/** A file of `src/` and what it names to be loaded; null: nobody can tell from the text. */
type Import = { readonly path: string; readonly target: string | null };

/** What the files use beyond their fences, in sentences. @param texts By path below `src/`. */
export function trespasses(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([path, text]) =>
    importsIn(path, text).flatMap((each) => (faultOf(each) === null ? [] : `${path}: ${faultOf(each)}`)),
  );
}

/** Why a file may not import that; null: it may. */
function faultOf({ path, target }: Import): string | null {
  const room = roomOf(path);
  const fence = fences[room];
  if (fence === undefined) return `there is no fence for ${room}`;
  if (target === null) return loaders.includes(path) ? null : 'it imports what cannot be told from its text';
  const used = target.startsWith('.') ? normalize(join(dirname(path), target)) : target;
  const door = Object.keys(doors).find((name) => used === name || used.startsWith(`${name}/`));
  if (door !== undefined) return doors[door]!.some((each) => path.startsWith(each)) ? null : `${door} is behind a door`;
  return isOpen(room, fence, target, used) ? null : `${room} may not use ${used}`;
}

function isOpen(room: string, fence: Fence, target: string, used: string): boolean {
  if (target.startsWith('.')) return mayEnter(room, fence, used);
  if (target.startsWith('node:')) return words(fence.node).includes(target.slice('node:'.length));
  const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/');
  return words(fence.packages).includes(name);
}

function mayEnter(room: string, { rooms }: Fence, used: string): boolean {
  const open = room === 'base' ? ['base'] : ['base', 'text', room, ...words(rooms)];
  return used.endsWith('.json') || open.some((each) => `${used}/`.startsWith(`${each}/`));
}

/** The part of `src/` that a file belongs to; in the window, its room. */
export function roomOf(path: string): string {
  const [part, inner] = path.split('/');
  return part === 'tui' ? `${part}/${inner}` : part!;
}

function words(list = ''): string[] {
  return list.split(' ').filter((word) => word !== '');
}

/** Everything that a file imports, requires or names as a file beside it, in whatever form TypeScript knows. */
export function importsIn(path: string, text: string): Import[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  const found = importedFiles.map(({ fileName }) => ({ path, target: fileName }));
  return isOdd.test(text) ? [...found, ...oddImports(path, text)] : found;
}

const isOdd = /\bURL\b|\bimportModule\b|\bgetBuiltinModule\b|\bcreateRequire\b|\bimport\s*\(/;

/** Those that the scanner does not see: computed names, files beside this one, and functions that load a module. */
function oddImports(path: string, text: string): Import[] {
  const found: Import[] = [];
  const look = (node: ts.Node): void => {
    if (isComputedImport(node)) found.push({ path, target: null });
    if (ts.isCallExpression(node) && isLoading(node.expression))
      found.push({ path, target: nameIn(node.arguments[0]) });
    if (ts.isNewExpression(node) && isBeside(node)) found.push({ path, target: besideIn(node.arguments![0]!) });
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isComputedImport(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) &&
    node.expression.kind === ts.SyntaxKind.ImportKeyword &&
    nameIn(node.arguments[0]) === null
  );
}

function isLoading(called: ts.Expression): boolean {
  const name = ts.isPropertyAccessExpression(called) ? called.name.text : ts.isIdentifier(called) ? called.text : '';
  return ['importModule', 'getBuiltinModule', 'createRequire'].includes(name);
}

function nameIn(argument: ts.Expression | undefined): string | null {
  return argument !== undefined && ts.isStringLiteralLike(argument) ? argument.text : null;
}

/** `new URL(name, import.meta.url)`. */
function isBeside({ expression, arguments: given }: ts.NewExpression): boolean {
  return expression.getText() === 'URL' && given?.[1]?.getText() === 'import.meta.url';
}

/** Of a name with computed parts what comes before them: the folder is known. */
function besideIn(argument: ts.Expression): string | null {
  if (ts.isTemplateExpression(argument))
    return /^\.\/(?!.*\.\.)/.test(argument.head.text) ? `${argument.head.text}x` : null;
  return nameIn(argument);
}
