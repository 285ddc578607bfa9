/**
 * Preloaded by the tests of mutation testing. Stryker names the active mutant in an environment variable. The writing
 * thread inherits no environment, so this module adds the variable to each thread.
 */

import { syncBuiltinESMExports } from 'node:module';
import threads, { type WorkerOptions } from 'node:worker_threads';

const name = '__STRYKER_ACTIVE_MUTANT__';
const mutant = process.env[name];

if (mutant !== undefined) {
  threads.Worker = class extends threads.Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      const env = typeof options.env === 'object' ? options.env : process.env;
      super(file, { ...options, env: { ...env, [name]: mutant } });
    }
  };
  syncBuiltinESMExports();
}
