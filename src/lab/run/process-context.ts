/** A polite request to stop, from the system. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/** What a program of the lab needs of the process it runs in. */
export type ProcessContext = {
  /** One line for people; ends up in `output.log`. */
  readonly log: (line: string) => void;
  /** Variables of the process: which GPUs it may use. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Unix ms, for what other programs show of a run; nothing of the run depends on it. */
  readonly time: () => number;
  /** Lets signals arrive, at little cost when called often. @returns the signal that came, or null. */
  readonly stopAsked: () => Promise<StopSignal | null>;
};
