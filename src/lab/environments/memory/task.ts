/** Feedback that the learner gets about the secret. */
export type Condition =
  | { kind: 'sft' }
  | { kind: 'binary' }
  | { kind: 'binned'; bins: number }
  | { kind: 'log-distance' }
  | { kind: 'dense'; credit: string };

/** A memory run: one secret below N, to be learnt. */
export type MemoryTask = {
  condition: Condition;
  N: number;
  /** Null when only the program knows it. */
  secret: number | null;
  /** Episodes (SFT: examples) that one training step consumes; null: the settings do not tell. */
  perStep: number | null;
};

export type Settings = Readonly<Record<string, unknown>>;

/** Reads a run's settings as a memory task; null: it is another program or another environment, or a warm-up. */
export function memoryTask(settings: Settings): MemoryTask | null {
  // `memrl sft` and `train` accept the keys of the memory games with any environment.
  if ((settings['environment'] ?? 'memory') !== 'memory') return null;
  const N = sizeOf(settings);
  const condition = conditionOf(settings);
  if (N === null || condition === null) return null;
  return {
    condition,
    N,
    secret: secretOf(settings),
    perStep: perStep(settings, condition),
  };
}

/** The number of possible secrets; null: the settings do not tell. */
function sizeOf(settings: Settings): number | null {
  const N = wholeNumber(settings['N']);
  return N === null || N < 1 ? null : N;
}

/** The secret; null: only the program knows it. */
function secretOf(settings: Settings): number | null {
  return wholeNumber(settings['secret'] ?? settings['fixed_secret']);
}

/** A short name of the condition for a row of a table. The bins have a column of their own. */
export function conditionName(condition: Condition): string {
  switch (condition.kind) {
    case 'sft':
      return 'SFT';
    case 'dense':
      return `dense, ${condition.credit}`;
    case 'log-distance':
      return 'log distance';
    case 'binary':
    case 'binned':
      return condition.kind;
  }
}

function conditionOf(settings: Settings): Condition | null {
  if ('n_values' in settings) return null;
  if ('num_epochs' in settings || 'train_data_path' in settings) return { kind: 'sft' };
  if (settings['env_type'] === 'multi_step')
    return { kind: 'dense', credit: text(settings['advantages'] ?? 'trajectory') };
  if (settings['env_type'] !== 'single_step' && !('reward_type' in settings)) return null;
  return rewardCondition(settings);
}

function rewardCondition(settings: Settings): Condition | null {
  const bins = wholeNumber(settings['reward_bins']);
  switch (settings['reward_type'] ?? 'binary') {
    case 'binary':
      return { kind: 'binary' };
    case 'log_distance':
      return { kind: 'log-distance' };
    case 'binned_log_distance':
      return bins === null || bins < 2 ? null : { kind: 'binned', bins };
    default:
      return null;
  }
}

function perStep(settings: Settings, condition: Condition): number | null {
  const batch = wholeNumber(settings['batch_size']);
  const group = condition.kind === 'sft' ? 1 : wholeNumber(settings['group_size']);
  return batch === null || group === null ? null : batch * group;
}

function wholeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
