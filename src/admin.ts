#!/usr/bin/env node
import 'reflect-metadata';
import { runAdmin } from './admin-commands/run-admin.js';

await runAdmin();
