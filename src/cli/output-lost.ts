/** What was printed could not be written: the disk is full, the terminal is gone, the reader has left. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
  /** The reader went away, as `| head` does: no error of anybody. */
  readonly hasReaderLeft: boolean;

  constructor({ code, message }: NodeJS.ErrnoException) {
    super(`What was to be printed could not be written: ${reasons[code ?? ''] ?? message}.`);
    this.hasReaderLeft = code === 'EPIPE';
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left there (ENOSPC)',
  EDQUOT: 'the quota is used up (EDQUOT)',
  EFBIG: 'the file may not become larger (EFBIG)',
  EIO: 'the terminal or the disk is gone (EIO)',
};
