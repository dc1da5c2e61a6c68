/** Thrown by a reader of files on another host: what was asked for comes later, and the reader is to be asked again then. */
export class OnItsWay extends Error {
  readonly arrival: Promise<unknown>;

  /** @param arrival Never rejects. */
  constructor(arrival: Promise<unknown>) {
    super('this is still on its way');
    this.arrival = arrival;
  }
}

/** Reads; gives undefined where what is read is on its way, and calls back when it has come. */
export function readOrWait<Read>(read: () => Read, arrived: () => void): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OnItsWay)) throw error;
    void error.arrival.then(arrived);
    return undefined;
  }
}
