import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InnerSweep, type TrialReader } from './inner-sweep.js';

/** A command for an agent, in W&B's form. */
type AgentCommand = { type: 'run'; run_id: string; args: object; program: string } | { type: 'exit' };

/** A loop of `wandb.agent`. `heardAt`: its last heartbeat, ms. `given`: its runs, the last one at the end. */
type Agent = { readonly sweep: InnerSweep; heardAt: number; readonly given: string[] };

/** An agent that was silent for longer has ended, ms: it asks every 5 s. */
const SILENT_MS = 12_000;

/** The sweeps of one program, and their agents. */
export class SweepBook {
  readonly #sweeps = new Map<string, InnerSweep>();
  readonly #agents = new Map<string, Agent>();
  readonly #environment: Readonly<Record<string, string | undefined>>;
  /** Directory below which wandb writes. */
  readonly #directory: string;
  readonly #read: TrialReader;

  constructor(directory: string, environment: Readonly<Record<string, string | undefined>>, read: TrialReader) {
    this.#directory = directory;
    this.#environment = environment;
    this.#read = read;
  }

  /** @throws {UserError} When the config is none. */
  begin(config: string): InnerSweep {
    const sweep = new InnerSweep(config, this.#sweeps.size, this.#directory, this.#environment);
    this.#sweeps.set(sweep.id, sweep);
    return sweep;
  }

  sweep(id: string): InnerSweep | undefined {
    return this.#sweeps.get(id);
  }

  /** @returns The agent's id; null: there is no such sweep. */
  register(sweepId: string, now: number): string | null {
    const sweep = this.#sweeps.get(sweepId);
    if (sweep === undefined) return null;
    const id = `agent-${this.#agents.size + 1}`;
    this.#agents.set(id, { sweep, heardAt: now, given: [] });
    return id;
  }

  /** What an agent is to do. An agent with a run of its own gets none: what it writes may decide about the next one. */
  heartbeat(id: string, running: ReadonlySet<string>, now: number): AgentCommand[] | null {
    const agent = this.#agents.get(id);
    if (agent === undefined) return null;
    agent.heardAt = now;
    if (running.size > 0) return [];
    for (const other of this.#agents.values())
      if (other.sweep === agent.sweep && (other === agent || now - other.heardAt > SILENT_MS)) this.#takeBack(other);
    const run = agent.sweep.next(this.#read);
    if (run === null) return [{ type: 'exit' }];
    agent.given.push(run.id);
    return [{ type: 'run', run_id: run.id, args: run.args, program: agent.sweep.program }];
  }

  /** An agent that has reached its count leaves a run that it has asked for. */
  #takeBack({ sweep, given }: Agent): void {
    const last = given.at(-1);
    if (last === undefined || this.#hasBegun(sweep.id, last)) return;
    given.pop();
    sweep.giveBack(last);
  }

  /** The agent writes the values of a run before it begins. */
  #hasBegun(sweep: string, run: string): boolean {
    return existsSync(join(this.#directory, 'wandb', `sweep-${sweep}`, `config-${run}.yaml`));
  }
}
