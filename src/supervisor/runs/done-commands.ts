import { type CallEnd, callProgram } from '../../processes/short-call.js';
import { usableCores } from '../../processes/usable-cores.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import { isActive } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import { doneEnvironment } from './launch-spec.js';
import type { PlannedRuns } from './planned-runs.js';
import type { Environment } from './submission-store.js';

/** What the command of a done rule says. `words`: why the run is not done, for a person. */
export type DoneAnswer = { isDone: true } | { isDone: false; words: string };

/** Asks whether a run is done. Never rejects. */
export type AskDone = (run: PlannedRun) => Promise<DoneAnswer>;

/** Where the rule says nothing, ms. */
const PATIENCE_MS = 60_000;
/** Of the last line that it prints, characters. */
const SHOWN = 200;

type DoneCommandPorts = {
  loop: Pick<EventLoop, 'state'>;
  plannedRuns: Pick<PlannedRuns, 'submitted'>;
  gpus: Pick<GpuWatch, 'devices'>;
  /** Folder of our own programs. */
  bin: string;
  /** The environment of the supervisor, for runs whose own is not known any more. */
  environment: Environment;
};

/**
 * Asks the commands of done rules, a few at a time: each in the directory of its run, with an environment, and for so long as its
 * rule says. Nothing that a command has started stays behind.
 */
export class DoneCommands {
  readonly #ports: DoneCommandPorts;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param most Commands that run at a time. */
  constructor(ports: DoneCommandPorts, most = usableCores()) {
    this.#ports = ports;
    this.#most = most;
  }

  /** Asks in the environment of the run, with the GPUs of one whose process has just ended. */
  readonly ask: AskDone = (run) => this.#ask(run, this.#environmentOf(run));

  /** Asks in the environment of a launch, before the run has a place. */
  askIn(environment: Environment): AskDone {
    const { gpus, bin } = this.#ports;
    return (run) => this.#ask(run, doneEnvironment(run, null, { environment, bin, devices: gpus.devices([]) }));
  }

  async #ask(run: PlannedRun, environment: Environment): Promise<DoneAnswer> {
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

  #environmentOf(run: PlannedRun): Environment {
    const { loop, plannedRuns, gpus, bin } = this.#ports;
    const { environment } = plannedRuns.submitted(run.id) ?? this.#ports;
    const was = loop.state.runs.get(run.id)?.state;
    const slot = was !== undefined && isActive(was) ? was.slot : null;
    return doneEnvironment(run, slot, { environment, bin, devices: gpus.devices(slot === null ? [] : gpusOf(slot)) });
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
