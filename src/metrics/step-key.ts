/** Names writers use for a counter of training steps, best first. A row with a smaller step is a resume. */
const counters = ['step', 'global_step', '_step', 'train/global_step', 'trainer/global_step', 'iteration', 'iter'];
/** Names that make an x axis, but may repeat or begin again without a row being replaced. */
const axes = ['epoch', 'timestep', 'timesteps', 'total_timesteps', 'time/total_timesteps', 'num_tokens', 'time'];

/** The key of a row that orders the rows of its file, and whether it counts steps. Null: only their number does. */
export function stepKeyOf(keys: readonly string[]): { key: string; counts: boolean } | null {
  const key = [...counters, ...axes].find((name) => keys.includes(name));
  return key === undefined ? null : { key, counts: counters.includes(key) };
}
