/** Whose turn it is at the one session of the database. */

export type SessionMutex = {
  /** Runs jobs one at a time in the order they came. */
  runExclusive: <T>(job: () => Promise<T>) => Promise<T>;
  /** Within a job, outside transactions: lets the next ones in while `work` goes on, which asks the database nothing. */
  runUnlocked: <T>(work: () => Promise<T>) => Promise<T>;
};

/**
 * The turns at a database. PGlite is one connection: without them, statements of one request run inside the transaction,
 * and with the role, of another.
 */
export function createSessionMutex(): SessionMutex {
  let last: Promise<void> = Promise.resolve();
  /** Of the job whose turn it is. */
  let end = (): void => undefined;
  const begin = async () => {
    const before = last;
    let over = (): void => undefined;
    last = new Promise((resolve) => {
      over = resolve;
    });
    await before;
    end = over;
  };
  return {
    runExclusive: async (job) => {
      await begin();
      try {
        return await job();
      } finally {
        end();
      }
    },
    runUnlocked: async (work) => {
      end();
      try {
        return await work();
      } finally {
        await begin();
      }
    },
  };
}
