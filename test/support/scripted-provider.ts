export { ScriptedProvider, type Script } from '../../src/testing/provider/scripted-provider.js';
