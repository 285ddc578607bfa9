import { Option } from 'commander';
import { OperatorError, UsageError } from '../errors.ts';
import { type Pet, type PetInput, type PetPatch, petInputs, petPatchRules } from '../pets/pet.ts';
import { describeViolations } from '../violations.ts';
import { numericId } from './arguments.ts';
import { type AppCommand, orMissing, type Printed, printLines } from './command.ts';
import { parseInt64 } from './parsers.ts';

const animalId = numericId('animal');
const noSuchPet = (id: bigint) => `there is no animal "${id}"`;

export function addPets(program: AppCommand): void {
  const pets = program.addGroup('pets', 'show, change and delete an animal');
  pets
    .addLeaf('show', 'show an animal')
    .withExamples('pets show 42')
    .addArgument(animalId)
    .doesWithStore(async ({ catalogue }, _options, id: bigint) => {
      const pet = await catalogue.get(id);
      if (pet === null) throw new OperatorError(noSuchPet(id));
      return printPet(pet);
    });
  const edit = pets
    .addLeaf('edit', 'change an animal; other fields stay unchanged')
    .withExamples('pets edit 42 --name Max --category-id 3', 'pets edit 42 --category-id=-1')
    .addArgument(animalId);
  for (const input of petInputs) addFlags(edit, input);
  edit.does(async ({ withStore }, options: Readonly<Record<string, unknown>>, id: bigint) => {
    const patch = readPatch(options);
    return printPet(
      await withStore((store) => orMissing(noSuchPet(id), () => store.changePet(id, patch, null))),
    );
  });
  pets
    .addLeaf('delete', 'delete an animal for good, unless an order owns it')
    .withExamples('pets delete 42')
    .addArgument(animalId)
    .doesWithStore(async (store, _options, id: bigint) => {
      await orMissing(noSuchPet(id), () => store.deletePet(id));
      return printLines({ id, deleted: true }, `the animal ${id} is deleted`);
    });
}

/** Adds the option that sets a field, `--category-id` for `categoryId`, and the one that removes it: `--no-category-id`. */
function addFlags(edit: AppCommand, { field, label, isInt64, choices, isRemovable }: PetInput): void {
  const value = isInt64 ? 'number' : label.replace(/^.* /, '');
  const option = new Option(`${nameFlag(field)} <${value}>`, `its ${label}`);
  if (isInt64) option.argParser(parseInt64);
  if (choices !== null) option.choices(choices);
  edit.addOption(option);
  if (isRemovable) edit.addOption(new Option(nameFlag(`no-${field}`), `remove its ${label}`));
}

function nameFlag(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Commander gives an option that removes a field as false. Throws UsageError if the change is empty or invalid. */
function readPatch(options: Readonly<Record<string, unknown>>): PetPatch {
  const patch = Object.entries(options).map(([field, value]) => [field, value === false ? null : value]);
  if (patch.length === 0) {
    const flags = petInputs.map(({ field }) => nameFlag(field));
    throw new UsageError(`nothing to change: name at least one of ${flags.join(', ')}`);
  }
  const change: unknown = Object.fromEntries(patch);
  if (petPatchRules.accepts(change)) return change;
  const violations = petPatchRules.findViolations(change);
  throw new UsageError(describeViolations(violations, 'the change'));
}

function printPet(pet: Pet): Printed {
  return printLines(pet, ...Object.entries(pet).map(([name, value]) => `${name.padEnd(10)}  ${value}`));
}
