create table public.documents (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete restrict,
  name text not null check (char_length(name) between 1 and 120),
  uploaded boolean not null default false,
  verified boolean not null default false,
  storage_path text unique,
  storage_version text,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The name of the file on the client's device.
  file_name text check (char_length(file_name) between 1 and 200) check (private.is_one_line(file_name)),
  -- The file's size in bytes.
  file_size integer check (file_size > 0),
  media_type text check (char_length(media_type) between 1 and 255),
  uploaded_at timestamptz,
  -- How the file reached the company. Null for a file that the client uploaded. The audit log names the team member.
  added_from text check (added_from in ('whatsapp', 'email', 'paper')),
  -- The client sees this note of the team member.
  added_note text check (char_length(added_note) between 1 and 500) check (private.is_plain_text(added_note)),
  rejected_at timestamptz,
  rejection_reason text check (char_length(rejection_reason) between 1 and 500)
    check (private.is_plain_text(rejection_reason)),
  version integer not null default 0,
  unique (shipment_id, name),
  check (uploaded = (storage_path is not null)),
  check (uploaded or not verified),
  check (uploaded or num_nonnulls(
    storage_version, sha256, file_name, file_size, media_type, uploaded_at, added_from, added_note
  ) = 0),
  check (added_from is not null or added_note is null),
  check (num_nulls(rejected_at, rejection_reason) in (0, 2)),
  check (rejected_at is null or not uploaded)
);
alter table public.documents enable row level security;
grant select on table public.documents to authenticated;
grant select, insert, update, delete on table public.documents to service_role;

-- The file size limit is 10 MiB. app/models/file-type.server.ts has the same media types.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('documents', 'documents', false, 10485760, array[
  'application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/tiff',
  'text/plain', 'text/csv', 'application/rtf',
  'application/msword', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.text', 'application/vnd.oasis.opendocument.spreadsheet'
]);

-- The bucket upload-chunks stores the chunks of resumable uploads under the names <user ID>/<upload>/<offset>-<length>.
-- No policy gives a client access to this bucket.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('upload-chunks', 'upload-chunks', false, 262144, array['application/octet-stream']);

-- Counts an upload chunk that the site stores for a client. Raises PT429 after 4,000 chunks in a day.
create function public.count_upload_chunk(account_id uuid) returns void
language sql volatile security definer set search_path = '' as $$
  select private.limit_daily_actions(count_upload_chunk.account_id, 'parts of large files', 4000)
$$;

create index documents_user_id on public.documents (user_id);
create index documents_to_check on public.documents (uploaded_at, id) where uploaded and not verified;
create index documents_rejected on public.documents (user_id, rejected_at) where rejected_at is not null;

-- Returns the name of the team member who added a document's file. The policies of the audit log hide the name from clients.
create function private.file_adder(document_id uuid) returns text
language sql stable set search_path = '' as $$
  select actor_name from public.audit_log
  where audit_log.document_id = file_adder.document_id and action = 'document add-file'
  order by created_at desc limit 1
$$;

create function private.documents_json(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(document), '[]'::jsonb)
  from (
    select id, name, uploaded, verified, file_name, file_size, media_type, uploaded_at, version, rejected_at, rejection_reason,
      added_from, added_note, case when added_from is not null then private.file_adder(id) end as added_by
    from public.documents where documents.shipment_id = documents_json.shipment_id
  ) as document
$$;

-- app/models/document.ts has the same list.
create function private.default_documents() returns text[]
language sql immutable set search_path = '' as $$
  select array['Commercial Invoice', 'Packing List', 'Insurance Certificate', 'Bill of Lading']
$$;

create function private.add_default_documents() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into public.documents (shipment_id, user_id, name)
  select new.id, new.user_id, unnest(private.default_documents());
  return new;
end
$$;

-- Returns the first part of a stored file's name, such as 'bill-of-lading' for the document 'Bill of Lading'.
-- app/models/document.server.ts has the same rule.
create function private.document_slug(document_name text) returns text
language sql immutable set search_path = '' as $$
  select lower(btrim(regexp_replace(document_name, '[^A-Za-z0-9]+', '-', 'g'), '-'))
$$;

-- Checks each new file of a document and each verification of a document.
-- Nobody can replace a file, and only private.clear_document_file can remove a file.
create function private.check_document_file() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  shipment_stage smallint;
begin
  if coalesce(old.uploaded, false) and not new.uploaded
    and current_setting('portal.cleared_document_id', true) = old.id::text
  then
    return new;
  end if;
  if coalesce(old.uploaded, false) then
    if (new.uploaded, new.storage_path, new.file_name, new.file_size, new.media_type, new.uploaded_at, new.added_from,
          new.added_note)
        is distinct from
        (old.uploaded, old.storage_path, old.file_name, old.file_size, old.media_type, old.uploaded_at, old.added_from,
          old.added_note)
      or (new.sha256 is distinct from old.sha256 and (old.sha256 is not null or not new.verified))
      or (new.storage_version is distinct from old.storage_version and (old.sha256 is null or not new.verified))
    then
      perform private.check_upload_allowed(true, null);
    end if;
  elsif new.uploaded then
    -- The lock prevents the shipment from being closed during the upload.
    -- With share locks, two uploads could deadlock, because each upload also updates the shipment.
    select shipments.stage into shipment_stage from public.shipments where shipments.id = new.shipment_id for no key update;
    perform private.check_upload_allowed(false, shipment_stage);
    select object.version into new.storage_version
    from storage.objects as object
    where object.bucket_id = 'documents' and object.name = new.storage_path;
    if not found
      or new.storage_path !~ format(
        '^%s/%s/%s-[0-9a-f]{12}-[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]{1,8})?$',
        new.user_id, new.shipment_id, private.document_slug(new.name)
      )
      or num_nulls(new.sha256, new.file_name, new.file_size, new.media_type) > 0
    then
      raise sqlstate 'PT409' using message = 'The file of this document is missing. Upload the file again.';
    end if;
    if auth.role() is not null then
      perform private.limit_daily_actions(new.user_id, 'uploads', 1000);
    end if;
    new.uploaded_at := now();
    new.rejected_at := null;
    new.rejection_reason := null;
  end if;

  if new.uploaded and new.verified
    and (
      not coalesce(old.verified, false)
      or (new.sha256, new.storage_version) is distinct from (old.sha256, old.storage_version)
    )
    and (new.sha256 is null or not exists (
      select from storage.objects as object
      where object.bucket_id = 'documents' and object.name = new.storage_path
        and object.version is not distinct from new.storage_version
    ))
  then
    raise sqlstate 'PT409' using message = 'This file is damaged or missing.';
  end if;
  return new;
end
$$;

-- Locks a document's row and returns the document. Raises PT404 for an unknown ID. Calls private.check_version.
create function private.lock_document(document_id uuid, expected_version integer) returns public.documents
language plpgsql volatile set search_path = '' as $$
declare
  document public.documents;
begin
  select * into document from public.documents where id = document_id for update;
  perform private.reject_if(not found, 404, 'Document not found.');
  perform private.check_version(expected_version, document.version, 'document');
  return document;
end
$$;

create function private.check_upload_allowed(uploaded boolean, stage smallint) returns void
language plpgsql immutable set search_path = '' as $$
begin
  if uploaded then
    raise sqlstate 'PT409' using message = 'This document already has a file. To upload another file, remove the current file first.';
  end if;
  if stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed. Call us to send more files.';
  end if;
end
$$;

-- Removes the file from a document's row. `npm run staff -- retention` later deletes the file from the storage bucket.
create function private.clear_document_file(document public.documents, rejection_reason text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('portal.cleared_document_id', document.id::text, true);
  update public.documents
  set uploaded = false, verified = false, storage_path = null, storage_version = null, sha256 = null, file_name = null,
    file_size = null, media_type = null, uploaded_at = null, added_from = null, added_note = null,
    rejected_at = case when clear_document_file.rejection_reason is not null then now() end,
    rejection_reason = clear_document_file.rejection_reason
  where id = document.id;
  perform set_config('portal.cleared_document_id', '', true);
end
$$;

-- Returns true if the caller can upload the document's file. Raises PT404 if the document does not exist or belongs to
-- another client, and PT409 if the document has a file or its shipment is closed.
create function public.require_upload_allowed(document_id uuid) returns boolean
language plpgsql stable security invoker set search_path = '' as $$
declare
  target record;
begin
  select document.uploaded, shipment.stage into target
  from public.documents as document
  join public.shipments as shipment on shipment.id = document.shipment_id
  where document.id = require_upload_allowed.document_id and document.user_id = (select auth.uid())
    and shipment.withdrawn_at is null;
  if not found then
    raise sqlstate 'PT404' using message = 'Document not found.';
  end if;
  perform private.check_upload_allowed(target.uploaded, target.stage);
  return true;
end
$$;

-- Returns the viewer and a document's file. `file` is null if the document has no file or belongs to another client.
create function public.portal_file(document_id uuid, shipment_id uuid) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'viewer', private.viewer(),
    'file', (
      select jsonb_build_object(
        'name', document.name, 'storage_path', document.storage_path, 'storage_version', document.storage_version,
        'sha256', document.sha256, 'file_name', document.file_name, 'file_size', document.file_size,
        'media_type', document.media_type
      )
      from public.documents as document
      where document.id = portal_file.document_id and document.shipment_id = portal_file.shipment_id
        and document.user_id = (select auth.uid()) and document.uploaded
        and (select shipment.withdrawn_at from public.shipments as shipment where shipment.id = document.shipment_id) is null
    )
  )
$$;

-- Records that a team member opens a document's file. If `is_view` is true, the file appears in a page of the desk. A
-- page can load a file several times, so the views of one person within an hour are one entry.
-- Returns the shipment's ID, the document's data and the file's data. Raises PT404 if the document has no file.
create function public.open_document(
  document_id uuid, shipment_id uuid, actor_name text default null, is_view boolean default false
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  document public.documents;
begin
  select * into document from public.documents
  where id = open_document.document_id and documents.shipment_id = open_document.shipment_id and uploaded;
  perform private.reject_if(not found, 404, 'File not found.');
  if not is_view or not exists (
    select from public.audit_log as entry
    where entry.document_id = document.id and entry.action = 'document open' and entry.staff_id = actor.staff_id
      and entry.created_at > greatest(document.uploaded_at, now() - interval '1 hour')
  ) then
    perform private.insert_audit_entry(actor, 'document open', shipment_id => document.shipment_id, document_id => document.id);
  end if;
  return jsonb_build_object(
    'shipment_id', document.shipment_id, 'name', document.name, 'storage_path', document.storage_path,
    'storage_version', document.storage_version, 'sha256', document.sha256,
    'file_name', document.file_name, 'media_type', document.media_type
  );
end
$$;

-- Marks a document as verified and returns the document's name.
-- The caller reads the stored file and passes the file's `sha256` and `storage_version`.
create function public.verify_document(
  document_id uuid, sha256 text, storage_version text, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('verify', document_id));
  document public.documents;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = verify_document.document_id);
  end if;
  document := private.lock_document(verify_document.document_id, expected_version);
  perform private.reject_if(not document.uploaded, 409, format('The %s has no file yet.', document.name));
  perform private.reject_if(
    document.verified and document.sha256 is not null, 409, format('The %s is already verified.', document.name)
  );
  update public.documents
  set verified = true, sha256 = verify_document.sha256, storage_version = verify_document.storage_version
  where id = document.id;
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document verify', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    after => jsonb_build_object('verified', true)
  );
  return document.name;
end
$$;

-- Undoes a verification, with a reason, and returns the document's name. Raises PT409 if the document is not verified.
create function public.unverify_document(
  document_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('unverify', document_id, reason));
  document public.documents;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = unverify_document.document_id);
  end if;
  document := private.lock_document(unverify_document.document_id, expected_version);
  perform private.reject_if(not document.verified, 409, format('The %s is not verified.', document.name));
  update public.documents set verified = false where id = document.id;
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document unverify', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    reason => trimmed_reason, before => jsonb_build_object('verified', true), after => jsonb_build_object('verified', false)
  );
  return document.name;
end
$$;

-- Rejects a document's file, so that the client must upload another file. Returns the document's name.
create function public.reject_document(
  document_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('reject', document_id, reason));
  document public.documents;
  stage smallint;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = reject_document.document_id);
  end if;
  document := private.lock_document(reject_document.document_id, expected_version);
  perform private.reject_if(not document.uploaded, 409, format('The %s has no file yet.', document.name));
  perform private.reject_if(
    document.verified, 409, format('The %s is verified. Undo the verification first.', document.name)
  );
  -- With share locks, two rejections could deadlock, because each rejection also updates the shipment.
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  perform private.reject_if(stage = 10, 409, 'This shipment is closed. Reopen the shipment to request a new file.');
  perform private.clear_document_file(document, trimmed_reason);
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document request-new-file', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    -- The audit entry has the file's hash instead of its path, because the path contains the client's file name.
    reason => trimmed_reason, before => jsonb_build_object('sha256', document.sha256), after => jsonb_build_object('sha256', null)
  );
  return document.name;
end
$$;

-- Records a stored file that a team member adds for the client, and returns the storage path of the document's file.
-- `added_from` says how the file reached the company. The daily limit of the client's uploads also counts this file.
create function public.add_file(
  document_id uuid, storage_path text, sha256 text, file_name text, file_size integer, media_type text, added_from text,
  added_note text default null, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(
    idempotency_key, jsonb_build_array('add file', document_id, sha256, added_from, added_note)
  );
  document public.documents;
  stage smallint;
begin
  if private.is_repeated_action(key) then
    return (select documents.storage_path from public.documents where documents.id = add_file.document_id);
  end if;
  perform private.reject_if(added_from is null, 400, 'Choose how the file reached us.');
  document := private.lock_document(add_file.document_id, expected_version);
  perform private.reject_if(document.uploaded, 409, format('The %s already has a file.', document.name));
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  perform private.reject_if(stage = 10, 409, 'This shipment is closed. Reopen the shipment to add a file.');
  update public.documents
  set uploaded = true, storage_path = add_file.storage_path, sha256 = add_file.sha256, file_name = add_file.file_name,
    file_size = add_file.file_size, media_type = add_file.media_type, added_from = add_file.added_from,
    added_note = nullif(btrim(add_file.added_note), '')
  where id = document.id;
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document add-file', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    -- The audit entry omits the note, because a note may contain personal data and the entry outlives the shipment.
    after => jsonb_build_object('sha256', add_file.sha256, 'added_from', add_file.added_from)
  );
  return add_file.storage_path;
end
$$;

-- Removes a file that a team member added by mistake, with a reason, and returns the document's name.
create function public.remove_added_file(
  document_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('remove file', document_id, reason));
  document public.documents;
  stage smallint;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = remove_added_file.document_id);
  end if;
  document := private.lock_document(remove_added_file.document_id, expected_version);
  perform private.reject_if(not document.uploaded, 409, format('The %s has no file yet.', document.name));
  perform private.reject_if(
    document.added_from is null, 409,
    format('The client uploaded the file of the %s. Request a new file instead.', document.name)
  );
  perform private.reject_if(
    document.verified, 409, format('The %s is verified. Undo the verification first.', document.name)
  );
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  perform private.reject_if(stage = 10, 409, 'This shipment is closed. Reopen the shipment to remove the file.');
  perform private.clear_document_file(document, null);
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document remove-file', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    reason => trimmed_reason,
    before => jsonb_build_object('sha256', document.sha256, 'added_from', document.added_from),
    after => jsonb_build_object('sha256', null, 'added_from', null)
  );
  return document.name;
end
$$;

-- Records the file that a client has uploaded for a document. Returns false if the document has a file already, is
-- missing or belongs to another client.
create function public.record_upload(
  document_id uuid, account_id uuid, storage_path text, sha256 text, file_name text, file_size integer, media_type text
) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  uploaded_shipment_id uuid;
begin
  update public.documents
  set uploaded = true, storage_path = record_upload.storage_path, sha256 = record_upload.sha256,
    file_name = record_upload.file_name, file_size = record_upload.file_size, media_type = record_upload.media_type
  where id = record_upload.document_id and user_id = record_upload.account_id and not uploaded
  returning shipment_id into uploaded_shipment_id;
  if not found then return false; end if;
  perform private.insert_client_entry(
    'upload', uploaded_shipment_id, record_upload.document_id, after => jsonb_build_object('sha256', record_upload.sha256)
  );
  return true;
end
$$;

-- Removes the file of the caller's document and returns the file's storage path.
create function public.remove_file(document_id uuid, expected_version integer) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  document public.documents;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into document from public.documents
  where id = remove_file.document_id and user_id = (select auth.uid())
  for update;
  perform private.reject_if(not found, 404, 'Document not found.');
  perform private.reject_if(
    document.verified, 409, format('We have already verified the %s. Call us if the file is wrong.', document.name)
  );
  perform private.reject_if(
    not document.uploaded or document.version is distinct from remove_file.expected_version, 409,
    format('The %s has changed. Check the document, then try again.', document.name)
  );
  perform from public.shipments where id = document.shipment_id and stage < 10 for no key update;
  perform private.reject_if(not found, 409, 'This shipment is closed. Call us to change a document.');
  perform private.clear_document_file(document, null);
  perform private.insert_client_entry(
    'remove', document.shipment_id, document.id, before => jsonb_build_object('sha256', document.sha256)
  );
  return document.storage_path;
end
$$;

create trigger add_default_documents after insert on public.shipments
for each row execute function private.add_default_documents();

create trigger check_document_file before insert or update on public.documents
for each row execute function private.check_document_file();

create policy "the session is active and has AAL2 if a second factor exists" on public.documents
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read their own documents" on public.documents
for select to authenticated using (user_id = (select auth.uid()));

create policy "the session is active and has AAL2 if a second factor exists" on storage.objects
as restrictive for all to authenticated using (bucket_id <> 'documents' or (select private.has_valid_session()));

create policy "staff read all documents" on public.documents
for select to authenticated using ((select private.is_staff()));

grant execute on function
  private.file_adder, private.documents_json, public.require_upload_allowed, public.portal_file, public.remove_file
to authenticated;
grant execute on function
  private.check_upload_allowed, public.open_document, public.verify_document, public.unverify_document,
  public.reject_document, public.add_file, public.remove_added_file
to authenticated, service_role;
grant execute on function public.count_upload_chunk, public.record_upload, private.document_slug to service_role;
