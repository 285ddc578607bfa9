import { placesMax } from '../../webhooks/places.ts';
import { connectionsMax, operatorConnectionsMax } from './bounds.ts';

/** For the files of the store and its log, Redis, DNS, and the sockets that listen. */
const ownFiles = 100;

/** The connections that each port may have open at a time. */
export interface ConnectionShares {
  readonly open: number;
  readonly operator: number;
}

/**
 * Divides the file descriptors of this process, so that clients never take those of the store, Redis, webhooks and the
 * operator's port. `storeConnections` is the maximum number of connections to PostgreSQL. With a low limit, clients keep at
 * least a quarter of it. A null limit is unknown, as on Windows, and bounds nothing.
 */
export function shareDescriptors(limit: number | null, storeConnections: number): ConnectionShares {
  if (limit === null) return { open: connectionsMax, operator: operatorConnectionsMax };
  const operator = Math.min(operatorConnectionsMax, Math.floor(limit / 10));
  const left = limit - operator - placesMax - storeConnections - ownFiles;
  return { open: Math.min(connectionsMax, Math.max(left, Math.floor(limit / 4))), operator };
}

/** Returns the soft limit of file descriptors, which Node raises to the hard one at its start. Null if it is unknown. */
export function readDescriptorLimit(): number | null {
  // Without this, a report looks up the names of all addresses. The types of Node do not know it yet.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : null;
}
