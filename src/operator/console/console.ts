import type { Sessions } from '../sessions.ts';
import { accountOperations } from './api/accounts.ts';
import { auditOperations } from './api/audit.ts';
import { categoryOperations } from './api/categories.ts';
import { keyOperations } from './api/keys.ts';
import { orderOperations } from './api/orders.ts';
import { petOperations } from './api/pets.ts';
import { requestOperations } from './api/requests.ts';
import { serviceOperations } from './api/service.ts';
import { webhookOperations } from './api/webhooks.ts';
import { bindConsoleOperation, type ConsoleServices } from './operation.ts';
import { createConsolePageRoutes } from './page-routes.ts';
import { createConsoleGate, createSignInRoutes } from './sign-in.ts';
import { createSiteFinder } from './site.ts';

/** All operations of the console's own API. */
export const consoleOperations = [
  ...serviceOperations,
  ...accountOperations,
  ...keyOperations,
  ...requestOperations,
  ...petOperations,
  ...categoryOperations,
  ...orderOperations,
  ...webhookOperations,
  ...auditOperations,
];

/** The routes of the console, and the gate that admits requests to them. */
export type Console = ReturnType<typeof buildConsole>;

/** Builds the web console. `consoleUrl` is the setting `CONSOLE_URL`, or null. */
export function buildConsole(
  services: ConsoleServices & { readonly sessions: Sessions },
  consoleUrl: string | null,
) {
  const findSite = createSiteFinder(consoleUrl);
  return {
    gate: createConsoleGate(services.sessions, findSite),
    routes: [
      ...createConsolePageRoutes(),
      ...createSignInRoutes(services.sessions, findSite),
      ...consoleOperations.map((operation) => bindConsoleOperation(operation, services)),
    ],
  };
}
