import { basename, dirname } from 'node:path';

/** Folders that hold a set of data each: Keras and CatBoost write the same tags into `train` and `validation`, `learn` and `test`. */
const ofEvaluation = /^(validation|valid|val|evaluation|eval|test|dev)$/i;

/**
 * What the tags of event files in a folder are called here, where the folder is a part of their name: TensorBoard shows each
 * folder as a run of its own. `validation/epoch_loss` is that of the folder `validation`; torch's and tensorboardX's
 * `add_scalars('loss', {a: …, b: …})` has a folder for each, and is `loss/a` and `loss/b`.
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
