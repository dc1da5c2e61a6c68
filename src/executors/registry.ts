import { UserError } from '../base/user-error.js';
import type { LaunchSpec, OpenExecutor, Packing } from './executor.js';
import { jobProblem, packingOf, unreachableInput } from './slurm/job-options.js';

/** What a run requires of the place where it starts. */
type Demand = Pick<LaunchSpec, 'cwd' | 'needs' | 'slurm' | 'input'>;
type Environment = Readonly<Record<string, string>>;

/**
 * `problem`: why the requirements of a run cannot be met there at all, in words; null: nothing is known to prevent it. `packing`:
 * how workers take runs with these requirements; null: each run is started by itself.
 */
type Kind = {
  open: () => Promise<OpenExecutor>;
  problem: (demand: Demand, environment: Environment) => Promise<string | null>;
  packing: (demand: Pick<Demand, 'needs' | 'slurm'>) => Packing | null;
};

/** The kinds of executors by name. To add one: a folder, and its line here. Only the one that is opened is loaded. */
const executors: Readonly<Record<string, Kind>> = {
  local: {
    open: async () => (await import('./local/local-executor.js')).openLocalExecutor,
    problem: localProblem,
    packing: () => null,
  },
  slurm: {
    open: async () => (await import('./slurm/slurm-executor.js')).openSlurmExecutor,
    problem: jobOrInputProblem,
    packing: packingOf,
  },
};

async function localProblem({ input }: Demand, environment: Environment): Promise<string | null> {
  if (input !== 'terminal') return null;
  return (await import('./local/run-terminal.js')).terminalProblem(environment);
}

async function jobOrInputProblem(demand: Demand, environment: Environment): Promise<string | null> {
  if (demand.input !== undefined) return `On Slurm a run ${unreachableInput}.`;
  return jobProblem(demand, environment);
}

/** The executor of a name. @throws {UserError} When there is none. */
export async function executorNamed(name: string): Promise<OpenExecutor> {
  return kindNamed(name).open();
}

/** How workers of the named executor take runs with these requirements; null: each run is started by itself. */
export function packingBy(name: string, demand: Pick<Demand, 'needs' | 'slurm'>): Packing | null {
  return kindNamed(name).packing(demand);
}

/** Limit on the demands that are checked, as each is a call of some ms. */
const MOST = 20;

/** Throws a UserError if one of the demands cannot be met at all. */
export async function refuseImpossible(
  name: string,
  demands: readonly Demand[],
  environment: Environment,
): Promise<void> {
  const { problem } = kindNamed(name);
  const different = new Map(demands.map((demand) => [JSON.stringify(demand), demand]));
  for (const demand of [...different.values()].slice(0, MOST)) {
    const words = await problem(demand, environment);
    if (words !== null)
      throw new UserError(words, 'Correct `resources`, `timeout`, `slurm`, `stdin` or `terminal` in the sweep file.');
  }
}

function kindNamed(name: string): Kind {
  const kind = Object.hasOwn(executors, name) ? executors[name] : undefined;
  if (kind !== undefined) return kind;
  const known = Object.keys(executors).join(', ');
  throw new UserError(`There is no executor called ${name}.`, `Set MEMRL_EXECUTOR to one of these: ${known}.`);
}
