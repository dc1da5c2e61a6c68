import { execFile } from 'node:child_process';
import { appendFileSync, realpathSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Redact, redactor } from '../../text/redaction.js';
import type { Config, Keys } from '../config/key.js';
import type { OwnProcess, ProcessContext } from './process-context.js';
import {
  cookbookFiles,
  keepConfig,
  openRunDirectory,
  rememberDirectory,
  type RunDirectory,
  writeWhole,
} from './run-directory.js';
import { lockRun } from './run-lock.js';
import { openRun, type Run } from './runner.js';

type RunStart = { readonly path: string; readonly config: Config<Keys>; readonly budget: ReadonlySet<string> };

/** Makes run directories for one process. A run that is refused afterwards leaves nothing behind. */
export class RunBeginner {
  readonly #process: OwnProcess;
  readonly #context: ProcessContext;
  #unlock: () => void = () => undefined;
  #undo: () => void = () => undefined;

  constructor(process: OwnProcess, context: ProcessContext) {
    this.#process = process;
    this.#context = context;
  }

  /**
   * Opens the directory of a run for this process alone, and writes its configuration.
   *
   * @throws UserError when another process holds the directory, or it belongs to a run of another configuration.
   */
  begin({ path, config, budget }: RunStart): RunDirectory {
    const restore = rememberDirectory(path);
    this.#undo = () => {
      this.end();
      restore();
    };
    const directory = openRunDirectory(path);
    this.#unlock = lockRun(path, this.#context.processes);
    this.#process.on('exit', this.#unlock);
    keepConfig(directory, { ...config, log_path: path }, budget);
    this.#context.log(`log: ${path}`);
    return directory;
  }

  /** Releases the run's directory, before the process ends. */
  end(): void {
    this.#unlock();
  }

  /** Removes the files that `begin` has made. */
  undo(): void {
    this.#undo();
  }

  /** Opens a run that keeps its code and its output, as tinker-cookbook does. */
  async openKept(directory: RunDirectory): Promise<Run> {
    const invocation = { argv: this.#process.argv, cwd: this.#process.cwd() };
    return openRun(directory, await keepCookbookFiles(directory.path, invocation, this.#context));
  }
}

/** Bytes of one `logs.log`; a longer one becomes `logs.log.old`, in the place of the one before it. */
const mostLog = 8 * 2 ** 20;
/** Bytes of the diff of one repository. */
const mostDiff = 2 * 2 ** 20;
const patienceMs = 5000;

/**
 * Writes the files beside the metrics that tinker-cookbook keeps of a run: `code.diff`, the code at the start of an attempt, and the
 * command line to `logs.log`, the output of all attempts. Secrets are written as *** in both.
 * @returns a context whose lines are also written to `logs.log`.
 */
export async function keepCookbookFiles(
  directory: string,
  { argv, cwd }: { readonly argv: readonly string[]; readonly cwd: string },
  context: ProcessContext,
): Promise<ProcessContext> {
  const redact = redactorOf(context);
  const places = { memrl: dirname(realpathSync(argv[1]!)), 'working directory': cwd };
  writeWhole(join(directory, cookbookFiles.code), redact(await codeState(places, context)));
  const keep = (line: string) => append(join(directory, cookbookFiles.log), `memrl [INFO] ${redact(line)}\n`);
  keep(`Command line invocation: memrl ${argv.slice(2).join(' ')}`);
  const log = (line: string) => {
    context.log(line);
    keep(line);
  };
  return { ...context, log };
}

function redactorOf({ environment }: ProcessContext): Redact {
  const set = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return redactor(Object.fromEntries(set));
}

function append(path: string, line: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > mostLog) renameSync(path, `${path}.old`);
  appendFileSync(path, line);
}

/**
 * The commit of each repository with code of the run, and the diff of its work tree; untracked files are left out.
 *
 * @param places Folders of code, by a description.
 */
async function codeState(places: Readonly<Record<string, string>>, context: ProcessContext): Promise<string> {
  const modulesOf = new Map<string, string[]>();
  const sections: string[] = [];
  for (const [module, folder] of Object.entries(places)) {
    const place = await git(folder, ['rev-parse', '--show-toplevel', 'HEAD'], context);
    if (place === null || place === '')
      sections.push(`### module: ${module} (not in a git repository)\nmodule_path: ${folder}\n`);
    else modulesOf.set(place, [...(modulesOf.get(place) ?? []), module]);
  }
  const repositories = [...modulesOf].map(async ([place, modules]) => {
    const [top, commit] = place.split('\n');
    const diff = await git(top!, ['diff', '--no-color', '--no-ext-diff', '--no-textconv', 'HEAD'], context);
    const body = diff === '' ? '(no local changes)' : `-- repo-wide (vs HEAD, staged+unstaged) --\n${diff ?? failed}`;
    // In a repository without a commit, git prints `HEAD` itself.
    const head = commit === 'HEAD' ? 'UNKNOWN' : commit;
    return `### repo: ${top} @ ${head}\nmodules: ${modules.join(', ')}\n${body}\n`;
  });
  return [...(await Promise.all(repositories)), ...sections].join('\n');
}

const failed = '(git does not say what they are)';

/** Output of git without its last newline; null when git fails, and truncated when it is too long. Changes nothing. */
function git(folder: string, words: readonly string[], { environment }: ProcessContext): Promise<string | null> {
  // Git's variables are dropped: a hook sets them to its own repository, which may be another one.
  const own = Object.entries(environment).filter(([name]) => !name.startsWith('GIT_'));
  const options = {
    env: { ...Object.fromEntries(own), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
    maxBuffer: mostDiff,
    timeout: patienceMs,
  };
  return new Promise((resolve) => {
    execFile('git', ['-C', folder, '-c', 'core.fsmonitor=false', ...words], options, (error, output) => {
      if (error === null || words[0] === 'rev-parse') return resolve(output.trimEnd());
      const isCut = error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      return resolve(isCut ? `${output}\n(cut off after ${mostDiff / 2 ** 20} MiB)` : null);
    });
  });
}
