/** Whether a full screen can be shown: both ends are a terminal that understands cursor addressing. */
export function hasScreen(): boolean {
  return process.stdout.isTTY && process.stdin.isTTY && process.env['TERM'] !== 'dumb';
}

/** Columns to lay tables out in; 140 where the output is a file or a pipe, which scrolls sideways. */
export function outputWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : 140;
}

export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
