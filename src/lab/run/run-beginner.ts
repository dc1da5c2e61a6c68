import type { Config, Keys } from '../config/key.js';
import { keepCookbookFiles } from './cookbook-files.js';
import type { OwnProcess, ProcessContext } from './process-context.js';
import { keepConfig, openRunDirectory, rememberDirectory, type RunDirectory } from './run-directory.js';
import { lockRun } from './run-lock.js';
import { openRun, type Run } from './runner.js';

type Begun = { readonly path: string; readonly config: Config<Keys>; readonly budget: ReadonlySet<string> };

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
  begin({ path, config, budget }: Begun): RunDirectory {
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
