import { basename, dirname } from 'node:path';

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
  if (isEvaluationSet(own)) return tag.toLowerCase().includes(own.toLowerCase()) ? tag : `${own}/${tag}`;
  // torch: `run/loss_a`
  const torch = `${tag.replaceAll('/', '_')}_`;
  if (own.startsWith(torch) && own.length > torch.length) return `${tag}/${own.slice(torch.length)}`;
  // tensorboardX: `run/data/loss/a`
  return dirname(folder).endsWith(`/${tag}`) ? `${tag}/${own}` : tag;
}

/**
 * The source of a file in a folder `version_N` of Lightning, which makes a new one each time a training is begun or resumed: the same
 * file of the next is that of a later attempt. Undefined: it lies in none.
 */
export function ofVersions(path: string): string | undefined {
  const folders = dirname(path).replace(/\/version_\d+(?=\/|$)/, '/version_N');
  return folders === dirname(path) ? undefined : folders;
}

const training = /^(train|training|learn)$/i;
const evaluation = /^(validation|valid|val|evaluation|evaluations|eval|test|dev|heldout)$/i;

/** Whether a word in a path names the data that a program is trained with: CatBoost writes `learn` beside `test`. */
export function isTrainingSet(word: string): boolean {
  return training.test(word);
}

/** Whether a word in a path names data of an evaluation: Keras writes `validation` beside `train`. */
export function isEvaluationSet(word: string): boolean {
  return evaluation.test(word);
}
