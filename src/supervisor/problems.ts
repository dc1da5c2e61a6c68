import { gpuName, type RunId } from '../base/ids.js';
import type { GpuPool } from '../scheduler/state.js';
import type { Unwritten } from './publish/run-view.js';

type ProblemPorts = {
  readonly loop: {
    readonly state: { readonly active: ReadonlySet<RunId>; readonly gpu: Pick<GpuPool, 'gpus' | 'devices'> };
  };
  readonly launcher: { readonly shortage: string | null };
  readonly gpus: { readonly problem: string | null };
  readonly losses: { words(): string | null };
  readonly watcher: { vitals(id: RunId): { readonly unwritten?: Unwritten | null } };
};

/** What keeps runs from starting, or makes those that are up useless, in words. */
export function problems({
  loop: { state },
  launcher: { shortage },
  gpus,
  losses,
  watcher,
}: ProblemPorts): (string | null)[] {
  return [
    shortage === null ? null : `no run can be started right now: ${shortage}`,
    gpus.problem,
    drainedWords(state.gpu),
    losses.words(),
    unwrittenWords(state.active, (id) => watcher.vitals(id).unwritten ?? null),
  ];
}

/** The GPUs that are drained because runs failed on them, and how they take runs again. */
function drainedWords({ gpus, devices }: Pick<GpuPool, 'gpus' | 'devices'>): string | null {
  const held = gpus.map((index) => devices.get(index)!).filter(({ drained, drainReason }) => drained && drainReason);
  const words = held.map(
    ({ index, drainReason }) =>
      `GPU ${gpuName(index)} takes no new runs: ${drainReason}; \`memrl-tui drain ${gpuName(index)} --undo\` lets it take runs again`,
  );
  return words.length === 0 ? null : words.join(' · ');
}

/** The first metric that a sweep file names and a run that is up does not write. */
function unwrittenWords(active: ReadonlySet<RunId>, of: (id: RunId) => Unwritten | null): string | null {
  for (const id of active) {
    const found = of(id);
    if (found?.isCertain === true) return `${id}: ${found.words}`;
  }
  return null;
}
