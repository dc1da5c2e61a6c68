const prefix = 'early_terminate: ';

/** The rule of an outcome whose run was ended early, of what `EarlyStopping` says: what `isEarlyStop` knows it by. */
export function earlyStopRule(words: string): string {
  return prefix + words;
}

/** Whether the rule that ended a run as done was `early_terminate`, and not a `stop_when`. */
export function isEarlyStop(rule: string): boolean {
  return rule.startsWith(prefix);
}
