import { basename, dirname } from 'node:path';

/**
 * Names of folders for one data set each: Keras and CatBoost write the same tags into `train` and `validation`, `learn` and `test`.
 */
const ofEvaluation = /^(validation|valid|val|evaluation|eval|test|dev)$/i;

/**
 * Returns a function from the tags of event files in a folder to names of metrics that include the folder where needed, as
 * TensorBoard shows each folder as a run of its own. `validation/epoch_loss` is the `epoch_loss` of the folder `validation`;
 * `add_scalars('loss', {a: …, b: …})` of torch and tensorboardX writes a folder for each, which become `loss/a` and `loss/b`.
 */
export function tagsIn(folder: string): (tag: string) => string {
  const names = new Map<string, string>();
  const own = basename(folder);
  return (tag) => {
    let name = names.get(tag);
    if (name === undefined) names.set(tag, (name = nameIn(folder, own, tag)));
    return name;
  };
}

function nameIn(folder: string, own: string, tag: string): string {
  if (ofEvaluation.test(own)) return tag.toLowerCase().includes(own.toLowerCase()) ? tag : `${own}/${tag}`;
  // torch: `run/loss_a`
  const torch = `${tag.replaceAll('/', '_')}_`;
  if (own.startsWith(torch) && own.length > torch.length) return `${tag}/${own.slice(torch.length)}`;
  // tensorboardX: `run/data/loss/a`
  return dirname(folder).endsWith(`/${tag}`) ? `${tag}/${own}` : tag;
}
