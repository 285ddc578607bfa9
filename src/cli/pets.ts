import { Command, Option } from 'commander';
import { commandActor } from '../audit/audit-entry.ts';
import { AppError, OperatorError, UsageError } from '../errors.ts';
import { createActs } from '../operator/acts/acts.ts';
import { findPatchViolations, type Pet, type PetPatch, type PetStatus, petStatuses } from '../pets/pet.ts';
import { describeViolations } from '../schema.ts';
import { type JsonOption, jsonOption, parseInt64, parseInt64Id } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine } from './output.ts';
import type { Terminal } from './terminal.ts';

export function petsCommand(context: CommandContext): Command {
  return new Command('pets')
    .description('show, change and delete an animal')
    .addCommand(showCommand(context))
    .addCommand(editCommand(context))
    .addCommand(deleteCommand(context))
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store pets show 42\n  animal-store pets edit 42 --status sold\n  animal-store pets delete 42',
    );
}

function showCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('show')
    .description('show an animal')
    .argument('<id>', 'the id of the animal', parseInt64Id)
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store pets show 42')
    .action(async (id: bigint, { json }: JsonOption) => {
      const pet = await withStore(async ({ catalogue }) => catalogue.get(id));
      if (pet === null) throw noSuchPet(id);
      writePet(terminal, pet, json);
    });
}

interface EditOptions extends JsonOption {
  readonly name?: string;
  readonly categoryId?: bigint;
  readonly status?: PetStatus;
}

function editCommand({ withStore, terminal, clock }: CommandContext): Command {
  return new Command('edit')
    .description('change an animal; other fields stay unchanged')
    .argument('<id>', 'the id of the animal', parseInt64Id)
    .option('--name <name>', 'its name')
    .option('--category-id <number>', 'its category', parseInt64)
    .addOption(new Option('--status <status>', 'its status').choices(petStatuses))
    .addOption(jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store pets edit 42 --name Max --category-id 3\n  animal-store pets edit 42 --category-id=-1',
    )
    .action(async (id: bigint, { json, ...patch }: EditOptions) => {
      checkPatch(id, patch);
      const pet = await withStore((store) =>
        act(id, () => createActs(store, clock, commandActor()).changePet(id, patch, null)),
      );
      writePet(terminal, pet, json);
    });
}

function deleteCommand({ withStore, terminal, clock }: CommandContext): Command {
  return new Command('delete')
    .description('delete an animal for good, unless an order owns it')
    .argument('<id>', 'the id of the animal', parseInt64Id)
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store pets delete 42')
    .action(async (id: bigint, { json }: JsonOption) => {
      await withStore((store) => act(id, () => createActs(store, clock, commandActor()).deletePet(id)));
      if (json) writeJson(terminal, { id, deleted: true });
      else writeLine(terminal, `the animal ${id} is deleted`);
    });
}

function checkPatch(id: bigint, patch: PetPatch): void {
  if (Object.keys(patch).length === 0)
    throw new UsageError('nothing to change: name at least one of --name, --category-id and --status');
  const violations = findPatchViolations({ id, ...patch });
  if (violations.length > 0) throw new UsageError(describeViolations(violations, 'the change'));
}

/** Runs an edit. Converts an error for a client into a one-line error for the operator. */
async function act<T>(id: bigint, edit: () => Promise<T>): Promise<T> {
  try {
    return await edit();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    throw error.code === 'not_found' ? noSuchPet(id) : new OperatorError(error.message, { cause: error });
  }
}

function noSuchPet(id: bigint): OperatorError {
  return new OperatorError(`there is no animal "${id}"`);
}

function writePet(terminal: Terminal, pet: Pet, json?: true): void {
  if (json) writeJson(terminal, pet);
  else for (const [name, value] of Object.entries(pet)) writeLine(terminal, `${name.padEnd(10)}  ${value}`);
}
