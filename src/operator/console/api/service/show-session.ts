import manifest from '../../../../../package.json' with { type: 'json' };
import { defineConsoleOperation } from '../../operation.ts';

/** The current session and its environment. */
export const showSession = defineConsoleOperation({
  method: 'GET',
  path: '/session',

  handle({ signedIn: { id, madeBy } }, { environment, database }) {
    return { id, madeBy, environment, engine: database.engine, version: manifest.version };
  },
});
