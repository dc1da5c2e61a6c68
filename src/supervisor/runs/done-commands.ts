import { type CallEnd, callProgram } from '../../processes/short-call.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** What the command of a done rule says. `words`: why the run is not done, for a person. */
export type DoneAnswer = { isDone: true } | { isDone: false; words: string };

/** Asks whether a run is done. Never rejects. */
export type AskDone = (run: PlannedRun) => Promise<DoneAnswer>;

/** Where the rule says nothing, ms. */
const PATIENCE_MS = 60_000;
/** Of the last line that it prints, characters. */
const SHOWN = 200;

/**
 * Asks the commands of done rules, a few at a time: each in the directory of its run, with an environment, and for so long as its
 * rule says. Nothing that a command has started stays behind.
 */
export class DoneCommands {
  readonly #environmentOf: (run: PlannedRun) => Readonly<Record<string, string>>;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param most Commands that run at a time. */
  constructor(environmentOf: (run: PlannedRun) => Readonly<Record<string, string>>, most: number) {
    this.#environmentOf = environmentOf;
    this.#most = most;
  }

  /** @param environment Of the command; absent: that of the run as it is known. */
  async ask(run: PlannedRun, environment = this.#environmentOf(run)): Promise<DoneAnswer> {
    if (this.#running < this.#most) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await answerOf(run, environment);
    } finally {
      // Handed on, not given back: who asks at this moment waits behind those that wait already.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

async function answerOf(run: PlannedRun, environment: Readonly<Record<string, string>>): Promise<DoneAnswer> {
  const { done, doneArgv, directory: cwd } = run;
  if (!('command' in done)) return { isDone: false, words: 'it has no done command' };
  const patienceMs = done.timeout === undefined ? PATIENCE_MS : done.timeout * 1000;
  const [program = '', ...args] = doneArgv ?? done.command;
  const call = { program, args, cwd, environment, patienceMs, tree: { leftovers: 'killed' } } as const;
  const end = await callProgram(call);
  const isDone = end.kind === 'exit' && end.code === 0;
  return isDone ? { isDone } : { isDone, words: `its done command ${wordsOf(end, patienceMs)}` };
}

function wordsOf(end: CallEnd, patienceMs: number): string {
  switch (end.kind) {
    case 'late':
      return `did not end within ${patienceMs / 1000} s`;
    case 'loud':
      return 'printed more than 16 MiB and was stopped';
    case 'unstartable':
      return `cannot be started: ${end.why}`;
    case 'exit': {
      const said = end.stdout.toString('utf8').trimEnd().split('\n').at(-1)!.trim();
      return `ended with ${end.signal ?? `exit code ${end.code}`}${said === '' ? '' : ` (${said.slice(0, SHOWN)})`}`;
    }
  }
}
