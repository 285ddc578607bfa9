import { accountOperations } from './accounts/operations.ts';
import { auditOperations } from './audit/operations.ts';
import { banOperations } from './bans/operations.ts';
import { categoryOperations } from './categories/operations.ts';
import { orderOperations } from './orders/operations.ts';
import { petOperations } from './pets/operations.ts';
import { serviceOperations } from './service/operations.ts';
import { webhookOperations } from './webhooks/operations.ts';

export const consoleOperations = [
  ...serviceOperations,
  ...accountOperations,
  ...banOperations,
  ...petOperations,
  ...categoryOperations,
  ...orderOperations,
  ...webhookOperations,
  ...auditOperations,
];
