import manifest from '../../../../../package.json' with { type: 'json' };
import { defineConsoleOperation } from '../../operation.ts';

/** Returns the current session, and facts about the service. */
export const showSession = defineConsoleOperation({
  method: 'GET',
  path: '/session',

  handle({ signedIn: { id, madeBy } }, { environment, database }) {
    return { id, madeBy, environment, engine: database.engine, version: manifest.version };
  },
});
