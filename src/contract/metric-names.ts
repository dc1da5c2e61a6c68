const settings = new RegExp(
  [
    String.raw`\b(lr|learning rate|momentum|weight decay|betas?\d?|eps|epsilon|gamma|dropout|temperature|seed|warmup)\b`,
    String.raw`\b(params?|parameters|parameter|vocab|layers?|heads|channels|embd|workers|shards|characters|classes|versions?)\b`,
    String.raw`\b(mult adds|macs|time|elapsed|seconds)\b`,
    String.raw`\b(num|number|size|dims?|shape|width|epochs|steps|samples|examples)\b|^(n|len|batchsize|lr\w?)\b|^batch$`,
  ].join('|'),
);

/**
 * Whether a metric is a setting of the program by its name: a size, a count of parameters, a learning rate. `words`: the name by
 * `inWords`.
 */
export function isSettingName(words: string): boolean {
  return settings.test(words);
}

const results =
  /loss|acc|rew\b|reward|\breturn|ppl|perplexity|err\b|error|score|auc|\bf1|mse|mae\b|bleu|iou|\bmap\b|dice|psnr|\bbp[bc]\b|\b[cw]er\b/;

/** Whether a metric measures how good a model is by its name. `words`: the name by `inWords`. */
export function isResultName(words: string): boolean {
  return results.test(words);
}

/**
 * What a run uses of the machine, as metrics. `cpu`: percent of one core. `gpu`: utilization of its GPUs in percent, their mean;
 * `gpuPower`: watts of all of them, whoever uses them. Memory in MiB, of the processes of the run.
 */
export const systemMetrics = {
  cpu: 'system/cpu_percent',
  memory: 'system/memory_mib',
  gpu: 'system/gpu_percent',
  gpuMemory: 'system/gpu_memory_mib',
  gpuPower: 'system/gpu_watts',
} as const;

/** Whether a metric is the utilization of GPUs in percent: ours, or W&B's of one GPU. */
export function isGpuUtilization(name: string): boolean {
  return name === systemMetrics.gpu || /^system\/gpu\.\d+\.gpu$/.test(name);
}

/** Prefix of a metric that declares how large another may be, whatever its sign: `limit/optim/kl` is the limit of `optim/kl`. */
export const limitPrefix = 'limit/';

/** Prefix of the metrics that describe the machine, ours and those of W&B. */
export const systemPrefix = 'system/';

/** Whether a metric describes what a run uses of the machine. Such a metric never stands for the run. */
export function isSystemMetric(name: string): boolean {
  return name.startsWith(systemPrefix);
}

/** Whether a metric is kept by a logger or a sampler for itself: the machine, and W&B's `_runtime`. A menu leaves such ones out. */
export function isOwnOfLogger(name: string): boolean {
  return isSystemMetric(name) || /^_(runtime|timestamp|step|wandb)\b/.test(name);
}

/** The system metrics that a page shows, of all that were written: ours, or the few of W&B's that say the same. */
export function shownSystemMetrics(written: readonly string[]): string[] {
  const ours: readonly string[] = Object.values(systemMetrics);
  const shown = /^system\/(cpu|proc\.memory\.rssMB|gpu\.\d+\.(gpu|memoryAllocatedBytes|powerWatts))$/;
  return written.filter((name) => ours.includes(name) || shown.test(name)).slice(0, MOST_SHOWN);
}

const MOST_SHOWN = 8;

/** A metric's name as words in lower case: `train/episodeReward_mean` as `train episode reward mean`. */
export function inWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9@]+/g, ' ')
    .toLowerCase()
    .trim();
}
