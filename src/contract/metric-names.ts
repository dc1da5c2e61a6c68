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

/** A metric's name as words in lower case: `train/episodeReward_mean` as `train episode reward mean`. */
export function inWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9@]+/g, ' ')
    .toLowerCase()
    .trim();
}
