import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../supervisor/testbed.js';
import type { Trial } from '../kind.js';
import { STEADY } from '../runs.js';
import type { Scene } from '../scene.js';
import { cleanWords, type Ground, ground, launchWords, triedPids } from './commands.js';
import { codeWrong, typed } from './typed.js';

/** What became of the files and programs of commands that were killed; and what the same commands do when they are let live. */
export const paths: readonly Trial[] = [
  { name: 'links and pipes of runs, clean', why: () => null, undergo: cleaned },
  { name: 'copies of the code', why: () => null, undergo: copied },
  { name: 'trials of programs', why: () => null, undergo: tried },
  { name: 'links, pipes and devices that are written to', why: () => null, undergo: written },
];

/** A launch and a `clean` that nobody kills do their work, whatever was left by those that were. */
async function cleaned(scene: Scene): Promise<string[]> {
  const place = ground(scene);
  const here = { cwd: place.folder };
  const wrong = [
    ...codeWrong('a launch after killed ones', await typed(scene, launchWords('litter'), here)),
    ...codeWrong('a launch with a copy of the code after killed ones', await typed(scene, launchWords('copied'), here)),
    ...codeWrong('the end of copied', await typed(scene, ['wait', 'copied'], here), [0, 3]),
    ...codeWrong('the end of litter', await typed(scene, ['wait', 'litter'], here), [0, 3]),
    // What is behind a link that a run has made is refused.
    ...codeWrong('clean', await typed(scene, cleanWords(['--failed', '--done', '--snapshots']), here), [0, 3]),
  ];
  return [...wrong, ...preciousWrong(place), ...leftWrong(scene)];
}

function preciousWrong({ precious }: Ground): string[] {
  const names = readdirSync(precious).sort();
  const isSame = names.join() === 'log,pid,thesis' && names.every((name) => textOf(join(precious, name)) === name);
  return isSame ? [] : [`behind a link of a run something has changed: ${names.join(', ')}`];
}

function textOf(path: string): string | null {
  return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : null;
}

/** Nothing of what is deleted stays under the names that it has meanwhile, and no run but those behind links has a directory. */
function leftWrong({ bed, fleet }: Scene): string[] {
  const folder = bed.path('litter');
  const kept = new Set([...fleet.runs.values()].filter(({ state }) => state === 'lost').map(({ name }) => name));
  return readdirSync(folder)
    .filter((name) => /^r\d+$/.test(name) && !kept.has(name) && lstatSync(join(folder, name)).isDirectory())
    .map((name) => `clean has left ${name} of the sweep litter`);
}

/** What a run has put into its copy of the code is seen by no run of another launch. */
async function copied(scene: Scene): Promise<string[]> {
  const place = ground(scene);
  const here = { cwd: place.folder };
  const launched = await typed(scene, launchWords('copied'), here);
  const ended = await typed(scene, ['wait', 'copied'], here);
  const strays = readdirSync(place.seen)
    .filter((name) => name.endsWith('.seen'))
    .filter((name) => !isClean(readFileSync(join(place.seen, name), 'utf8')));
  return [
    ...codeWrong('a launch with a copy of the code', launched),
    ...codeWrong('the end of runs with a copy of the code', ended, [0]),
    ...strays.map((name) => `a run began with what another launch's had written: ${name}`),
  ];
}

/** Runs of one launch share a copy, and see what the others have put there; what was written elsewhere came with another copy. */
function isClean(text: string): boolean {
  const [own, ...lines] = text.split('\n').filter((line) => line !== '');
  const isWhole = ['copied.sh', 'copied.yaml', 'litter.sh', 'litter.yaml', 'trial.sh'].every((name) =>
    lines.includes(name),
  );
  return isWhole && lines.every((line) => !line.startsWith('/') || line === own);
}

/** No program that was tried lives longer than the command that tried it. */
async function tried(scene: Scene): Promise<string[]> {
  const alive = () => triedPids(ground(scene)).filter(isThere);
  const isOver = await waitFor('the end of programs that were tried', () => alive().length === 0, 5000).catch(
    () => false,
  );
  return isOver ? [] : alive().map((pid) => `process ${pid} of \`init --trial\` lives though its client was killed`);
}

function isThere(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Each is written through, and stays what it is. A device of its own: nobody's `/dev/full` is at risk. */
async function written(scene: Scene): Promise<string[]> {
  const { folder, table } = ground(scene);
  const at = (name: string) => join(folder, name);
  const target = at('target.csv');
  for (const name of ['link.csv', 'target.csv', 'pipe', 'full', 'own.csv']) rmSync(at(name), { force: true });
  writeFileSync(target, 'before');
  symlinkSync(target, at('link.csv'));
  writeFileSync(at('own.csv'), 'before');
  chmodSync(at('own.csv'), 0o640);
  execFileSync('mkfifo', [at('pipe')]);
  const hasDevice =
    process.getuid?.() === 0 && isDone(() => execFileSync('mknod', [at('full'), 'c', '1', '7'], { stdio: 'ignore' }));
  const reader = spawn('cat', [at('pipe')], { stdio: 'ignore' });
  const to = (name: string) => typed(scene, ['export', 'ordeal', '--format', 'csv', '-o', name], { cwd: folder });
  const wrong = [
    ...codeWrong('export to a link', await to('link.csv')),
    ...codeWrong('export to a file of mode 0640', await to('own.csv')),
    ...codeWrong('export to a pipe', await to('pipe')),
    ...(hasDevice ? codeWrong('export to a full device', await to('full'), [1, 2]) : []),
  ];
  reader.kill();
  const kinds = {
    'a link': lstatSync(at('link.csv')).isSymbolicLink() && isWhole(target),
    'a pipe': lstatSync(at('pipe')).isFIFO(),
    'a device': !hasDevice || lstatSync(at('full')).isCharacterDevice(),
    'a file of mode 0640': (statSync(at('own.csv')).mode & 0o777) === 0o640 && isWhole(at('own.csv')),
    // By commands that were killed, perhaps when only a few runs had begun.
    'a whole table': statSync(table, { throwIfNoEntry: false }) === undefined || rowsOf(table) !== null,
  };
  const changed = Object.entries(kinds).filter(([, isSo]) => !isSo);
  return [...wrong, ...changed.map(([what]) => `${what} is no more what it was after an export`)];
}

/** Whether it is a table of all runs that are up. */
function isWhole(path: string): boolean {
  return (rowsOf(path) ?? 0) >= STEADY;
}

/** Number of rows of a table; null: it is cut, or none. */
function rowsOf(path: string): number | null {
  const [head = '', ...lines] = readFileSync(path, 'utf8').split('\n');
  const isCut = lines.pop() !== '' || lines.some((line) => fieldsOf(line) !== fieldsOf(head));
  return isCut || fieldsOf(head) < 2 ? null : lines.length;
}

function fieldsOf(line: string): number {
  return line.split(',').length;
}

function isDone(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
