/** The parts of a service that are open. */
export interface OpenParts {
  /** Registers how to close a part that has just been opened. */
  add(close: () => unknown): void;
  /**
   * Closes all parts, the last opened first. Every part is closed even if another fails. Then throws the first failure.
   * A second call does nothing.
   */
  close(): Promise<void>;
}

export function createOpenParts(): OpenParts {
  const closings: (() => unknown)[] = [];

  return {
    add: (close) => void closings.push(close),
    async close() {
      const failures: unknown[] = [];
      for (const close of closings.splice(0).reverse())
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      if (failures.length > 0) throw failures[0];
    },
  };
}
