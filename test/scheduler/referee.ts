import type { RunId } from '../../src/base/ids.js';
import type { Run } from '../../src/scheduler/state.js';
import type { Moment, TrueGpu, World } from './world.js';

/**
 * Judges what the scheduler did at one moment, from the world's own knowledge: the rules are written down a second time
 * here, in the plainest way, and share no code with the scheduler.
 */
export function judge(moment: Moment, world: World): void {
  const scene = sceneOf(world);
  const launches = moment.actions.filter((action) => action.type === 'launch');
  // One that is found to be up is taken over where it is, whenever that is.
  const problems = launches.flatMap(({ id, slot, isUp }) => {
    if (isUp) return [];
    const run = world.state.runs.get(id)!;
    const gpus = slot.kind === 'cpu' ? [] : slot.gpus.map((index) => world.gpus[index]!);
    return [
      ...untimely(moment, id),
      ...crowded(scene, run),
      ...run.needs.filter((needed) => !isDone(world.state.runs.get(needed))).map((needed) => `${id} needs ${needed}`),
      ...gpus.flatMap((gpu) => [...barred(world, run, gpu), ...overfull(scene, run, gpu)]),
    ];
  });
  const all = [...problems, ...overCapacity(scene), ...idle(scene)];
  if (all.length > 0) throw new Error(`after ${moment.event.type}: ${all.join('; ')}`);
}

/** The world, with what is asked of it often: the runs that hold a slot, and the groups that are not done. */
type Scene = { world: World; up: Run[]; undone: Set<string> };

function sceneOf(world: World): Scene {
  const runs = [...world.state.runs.values()];
  const undone = runs.filter(({ state }) => state.phase !== 'ended' || state.outcome.kind !== 'done');
  return { world, up: runs.filter(({ state }) => 'slot' in state), undone: new Set(undone.map(({ group }) => group)) };
}

/** Why the run must not have been launched at this moment, wherever. */
function untimely({ event, before }: Moment, id: RunId): string[] {
  const was = before.get(id);
  if (was === undefined) return [];
  const wrong: string[] = [];
  const isUp = was.phase !== 'waiting' && was.phase !== 'ended';
  if (isUp && !('id' in event && event.id === id)) wrong.push(`${id} was launched twice`);
  if (was.isHeld && !LIFTS.includes(event.type)) wrong.push(`${id} was launched though it is held`);
  if (isEarly(was.notBefore, event)) wrong.push(`${id} was launched before its time`);
  return wrong;
}

function isEarly(notBefore: number | null, { type, at }: Moment['event']): boolean {
  return notBefore !== null && !HASTENS.includes(type) && (type !== 'time-passed' || notBefore > at);
}

/** With `time-passed` more of a submission may have come. */
const LIFTS = ['release-requested', 'resume-requested', 'runs-submitted', 'time-passed'];
const HASTENS = ['resume-requested'];

/** Why no run must have been put on the GPU just now. */
function barred({ granted }: World, run: Run, gpu: TrueGpu): string[] {
  const where = `${run.id} on GPU ${gpu.index}`;
  const wrong: string[] = [];
  if (!granted.includes(gpu.index) || !isVisible(run, gpu.index)) wrong.push(`${where}, which is not granted`);
  if (!gpu.isThere) wrong.push(`${where}, which is gone`);
  if (gpu.isDrained) wrong.push(`${where}, which is drained`);
  if (gpu.leasedBy !== null) wrong.push(`${where}, which belongs to others`);
  return wrong;
}

/** Why this run must not have been put there, for what it takes. */
function overfull({ world, up }: Scene, run: Run, { index, memory, foreign, foreignMemory }: TrueGpu): string[] {
  const where = `${run.id} on GPU ${index}`;
  if (memory === null || memoryOf(world, run) === null) return foreign.length > 0 ? [`${where}, which others use`] : [];
  const sum = holders(up, index).reduce((total, other) => total + (memoryOf(world, other) ?? 0), foreignMemory);
  return sum > memory ? [`${where}: ${sum} of ${memory} MiB`] : [];
}

/** Why the run must not have been started now, for the cores it reserves. */
function crowded({ world, up }: Scene, run: Run): string[] {
  const { slots } = world.state.cpu;
  const isCounted = run.need.gpus === 0 || (coresOf(run) > 0 && slots > 0);
  const sum = up.reduce((total, other) => total + coresOf(other), 0);
  return isCounted && sum > slots ? [`${run.id} was started: ${sum} cores of ${slots}`] : [];
}

function overCapacity({ world, up }: Scene): string[] {
  const wrong: string[] = [];
  for (const { index } of world.gpus) {
    const share = holders(up, index).reduce((sum, run) => sum + 1 / perGpu(run), 0);
    if (share > 1 + 1e-9) wrong.push(`GPU ${index} is shared ${share}`);
  }
  const cpus = up.flatMap(({ state }) => ('slot' in state && state.slot.kind === 'cpu' ? [state.slot.index] : []));
  if (new Set(cpus).size !== cpus.length) wrong.push('a CPU slot is held twice');
  return wrong;
}

/** What could start and does not: the first in line, on CPU slots or on GPUs. */
function idle({ world, up, undone }: Scene): string[] {
  const { runs, cpu, intakes } = world.state;
  // The first in line may be among those that are still to come.
  if (intakes.length > 0) return [];
  const inLine = [...runs.values()]
    .filter((run) => run.state.phase === 'waiting' && run.state.notBefore === null && run.hold === null)
    .filter(({ group }) => !undone.has(NEEDS[group] ?? ''))
    .filter((run) => run.needs.every((id) => isDone(runs.get(id))))
    .sort((a, b) => b.priority - a.priority || a.order - b.order);
  const wrong: string[] = [];
  const busy = up.reduce((sum, run) => sum + coresOf(run), 0);
  const hasCores = (run: Run, taken: number) =>
    taken + coresOf(run) <= cpu.slots || (run.need.gpus > 0 && (coresOf(run) === 0 || cpu.slots === 0));
  const possible = inLine.filter(
    (run) => hasCores(run, 0) && (run.need.gpus === 0 || usable(world, run, []).length >= run.need.gpus),
  );
  // What is kept for those before it: the first of all has nothing to wait for, nor has the first that wants a GPU, or cores.
  const onCpu = possible.find((run) => coresOf(run) > 0);
  const isFree = (run: Run) => run.need.gpus === 0 || usable(world, run, up).length >= run.need.gpus;
  if (onCpu !== undefined && onCpu.need.gpus === 0 && hasCores(onCpu, busy))
    wrong.push(`${onCpu.id} waits for slots that are free`);
  const onGpu = possible.find((run) => run.need.gpus > 0);
  if (onGpu !== undefined && isFree(onGpu) && (coresOf(onGpu) === 0 || (onGpu === onCpu && hasCores(onGpu, busy)))) {
    wrong.push(`${onGpu.id} waits for GPUs that are free`);
  }
  return wrong;
}

/** GPUs that could take the run if only `others` were there. */
function usable(world: World, run: Run, others: readonly Run[]): number[] {
  return world.granted.filter((index) => {
    const gpu = world.gpus[index]!;
    if (!isVisible(run, index)) return false;
    if (!gpu.isThere || gpu.isDrained || gpu.leasedBy !== null) return false;
    const there = others.filter((other) => isOn(other, index));
    if (there.reduce((sum, other) => sum + 1 / perGpu(other), 1 / perGpu(run)) > 1 + 1e-9) return false;
    return fits(world, run, gpu, there);
  });
}

function fits(world: World, run: Run, gpu: TrueGpu, there: readonly Run[]): boolean {
  const memory = memoryOf(world, run);
  if (memory === null || gpu.memory === null) return gpu.foreign.length === 0;
  const room = gpu.memory - gpu.foreignMemory;
  // What was learned has a tenth to spare, which a run gives up where it has the GPU to itself.
  const spare = (other: Run, least: number) => (other.need.memory === null ? Math.ceil(least * 1.1) : least);
  const takes = (other: Run) => {
    const least = memoryOf(world, other);
    return least === null ? 0 : Math.max(least, Math.min(spare(other, least), room));
  };
  const sum = there.reduce((total, other) => total + takes(other), 0);
  return sum + (gpu.foreign.length > 0 ? spare(run, memory) : takes(run)) <= room;
}

const NEEDS: Record<string, string> = { 's/main': 's/warmup', 's/last': 's/main' };

function memoryOf(world: World, run: Run): number | null {
  return run.need.memory ?? world.peaks.get(run.group) ?? null;
}

function isVisible({ need: { within } }: Run, gpu: number): boolean {
  return within === undefined || within.some((index) => (index as number) === gpu);
}

function coresOf({ need }: Run): number {
  return need.cpus ?? (need.gpus === 0 ? 1 : 0);
}

function isDone(run: Run | undefined): boolean {
  return run?.state.phase === 'ended' && run.state.outcome.kind === 'done';
}

function perGpu(run: Run): number {
  return run.alone ? 1 : run.need.perGpu;
}

function holders(up: readonly Run[], gpu: number): Run[] {
  return up.filter((run) => isOn(run, gpu));
}

function isOn({ state }: Run, gpu: number): boolean {
  return 'slot' in state && state.slot.kind === 'gpu' && state.slot.gpus.some((index) => (index as number) === gpu);
}
