import { fuzzApi } from '../../../torture/fuzz/api.ts';
import { fuzzWire } from '../../../torture/fuzz/wire.ts';
import { testShort } from './test-short.ts';

testShort(fuzzWire, 0.05, 7, 'only complete answers in order, and no 5xx');
testShort(fuzzApi, 0.03, 7, 'each answer matches the description, and each animal has at most one owner');
