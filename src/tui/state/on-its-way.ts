/** Thrown by a reader of files on another host if the data has not arrived yet; the caller must retry after its arrival. */
export class OnItsWay extends Error {
  readonly arrival: Promise<unknown>;

  /** @param arrival Never rejects. */
  constructor(arrival: Promise<unknown>) {
    super('this is still on its way');
    this.arrival = arrival;
  }
}

/** Reads; returns undefined if the data has not arrived yet, and calls back when it has. */
export function readOrWait<Read>(read: () => Read, arrived: () => void): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OnItsWay)) throw error;
    void error.arrival.then(arrived);
    return undefined;
  }
}
