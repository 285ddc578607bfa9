import { changeAccount, createAccount, resetAccountLimits } from './accounts/account-changes.ts';
import { deleteAccount } from './accounts/delete-account.ts';
import { createOwnKey, issueKey, revokeKey, rotateKey } from './accounts/key-changes.ts';
import { writeUses } from './accounts/key-rows.ts';
import { recordAct } from './audit/audit-log.ts';
import { putCategory, removeCategory } from './categories/categories.ts';
import { deleteExpired } from './events/expire-events.ts';
import { sequenceCopied } from './events/sequence-events.ts';
import { liftBan } from './limits/bans.ts';
import { writeConduct, writeWindows } from './limits/memory/counter-store.ts';
import { endSessions, openSession } from './operator/sessions.ts';
import { closeOrder } from './orders/close-order.ts';
import { expireGiven } from './orders/expire-orders.ts';
import { placeOrder } from './orders/place-order.ts';
import { addPetByHand, addPetOnce } from './pets/catalogue.ts';
import { editPet } from './pets/pet-edits.ts';
import type { Transaction } from './storage/database.ts';
import { addRequests } from './usage/request-rows.ts';
import { addHours } from './usage/usage.ts';
import { noteAttempt } from './webhooks/attempt-rows.ts';
import {
  addWebhook,
  changeWebhook,
  disableWebhooksOfKey,
  removeWebhook,
  rotateSecret,
} from './webhooks/change-webhook.ts';
import { requestMessage } from './webhooks/requested-messages.ts';

/** All transactions. SQLite's writing thread runs them by name. */
export const transactions: readonly Transaction<never, unknown>[] = [
  addHours,
  addPetByHand,
  addPetOnce,
  addRequests,
  addWebhook,
  changeAccount,
  changeWebhook,
  closeOrder,
  createAccount,
  createOwnKey,
  deleteAccount,
  deleteExpired,
  disableWebhooksOfKey,
  editPet,
  endSessions,
  expireGiven,
  issueKey,
  liftBan,
  noteAttempt,
  openSession,
  placeOrder,
  putCategory,
  recordAct,
  removeCategory,
  removeWebhook,
  requestMessage,
  revokeKey,
  rotateKey,
  rotateSecret,
  sequenceCopied,
  resetAccountLimits,
  writeConduct,
  writeUses,
  writeWindows,
];
