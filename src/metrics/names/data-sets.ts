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
