-- Files that count. The server stores what it has checked, under a name of its own for every attempt, and records with
-- the mark what it stored; a client's token writes neither objects nor documents.

drop policy "clients store files for documents that await one" on storage.objects;
drop policy "clients store a file again until it counts" on storage.objects;
drop policy "clients take back a file that does not count" on storage.objects;
drop policy "clients mark their own documents as uploaded" on public.documents;
revoke update (uploaded, storage_path) on table public.documents from authenticated;
drop function private.document_awaits(text);
revoke execute on function private.document_slug(text) from authenticated;

alter table public.documents
  -- The object's own version: another one is another file, whatever its name.
  add column storage_version text,
  add column sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- As the person's own file was called.
  add column file_name text check (char_length(file_name) between 1 and 200),
  -- In bytes.
  add column file_size integer check (file_size > 0),
  add column media_type text check (char_length(media_type) between 1 and 255),
  add column uploaded_at timestamptz;

-- Of files from before only the store knows. Their hash is recorded when the company verifies them.
update public.documents
set storage_version = object.version,
  file_size = nullif((object.metadata ->> 'size')::integer, 0),
  media_type = nullif(object.metadata ->> 'mimetype', ''),
  uploaded_at = object.created_at
from storage.objects as object
where documents.uploaded and object.bucket_id = 'documents' and object.name = documents.storage_path;

alter table public.documents
  add check (uploaded or num_nonnulls(storage_version, sha256, file_name, file_size, media_type, uploaded_at) = 0);

-- Says with PT409 why a document takes no file; does nothing when it takes one.
create function private.refuse_file(uploaded boolean, stage smallint) returns void
language plpgsql immutable
set search_path = ''
as $$
begin
  if uploaded then
    raise sqlstate 'PT409' using message = 'This document has been uploaded already.';
  end if;
  if stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed: nothing more can be uploaded to it.';
  end if;
end
$$;
revoke all on function private.refuse_file(boolean, smallint) from public, anon;
grant execute on function private.refuse_file(boolean, smallint) to authenticated, service_role;

-- What the server asks as the client before it stores a file: true, or PT404 when the document is not theirs and PT409 when
-- it takes no file.
create function public.require_awaited_file(document_id uuid) returns boolean
language plpgsql stable
security invoker
set search_path = ''
as $$
declare
  asked record;
begin
  select document.uploaded, shipment.stage into asked
  from public.documents as document
  join public.shipments as shipment on shipment.id = document.shipment_id
  where document.id = require_awaited_file.document_id and document.user_id = (select auth.uid());
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such document.';
  end if;
  perform private.refuse_file(asked.uploaded, asked.stage);
  return true;
end
$$;
revoke all on function public.require_awaited_file(uuid) from public, anon;
grant execute on function public.require_awaited_file(uuid) to authenticated;

-- A document counts one file, recorded as it was stored, and nothing of that is ever exchanged. It is verified only with
-- a hash and while the store has the object of the recorded version; who verifies has read the bytes, and may record with
-- it the version of the same bytes that a restored backup has, or the hash of a file from before.
create or replace function private.guard_document_file() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  at_stage smallint;
begin
  if coalesce(old.uploaded, false) then
    if (new.uploaded, new.storage_path, new.file_name, new.file_size, new.media_type, new.uploaded_at)
        is distinct from
        (old.uploaded, old.storage_path, old.file_name, old.file_size, old.media_type, old.uploaded_at)
      or (new.sha256 is distinct from old.sha256 and (old.sha256 is not null or not new.verified))
      or (new.storage_version is distinct from old.storage_version and (old.sha256 is null or not new.verified))
    then
      perform private.refuse_file(true, null);
    end if;
  elsif new.uploaded then
    -- Locked, so that nobody closes the shipment meanwhile.
    select shipments.stage into at_stage from public.shipments where shipments.id = new.shipment_id for share;
    perform private.refuse_file(false, at_stage);
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
      raise sqlstate 'PT409' using message = 'The file of this document is not in the document store.';
    end if;
    new.uploaded_at := now();
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
    raise sqlstate 'PT409' using message = 'The stored file is not the one that was uploaded.';
  end if;
  return new;
end
$$;

drop trigger guard_document_file on public.documents;
create trigger guard_document_file
before insert or update on public.documents
for each row execute function private.guard_document_file();

-- What is past its time, as the migration before has it. `files` are also those of kept shipments that no document counts
-- and no upload under way is about to: a server that is cut off between storing and marking leaves them.
create or replace function public.past_retention() returns jsonb
language sql stable security definer
set search_path = ''
as $$
  with file as (
    select name, split_part(name, '/', 2) as shipment_id, created_at
    from storage.objects
    where bucket_id = 'documents' and name ~ '^[0-9a-f-]{36}/[0-9a-f-]{36}/'
  ),
  account as (
    select users.id, users.email, greatest(users.created_at, users.last_sign_in_at, (
      select max(session.updated_at) from auth.sessions as session where session.user_id = users.id
    )) as last_seen
    from auth.users
    where not exists (select from public.shipments where shipments.user_id = users.id)
  )
  select jsonb_build_object(
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'retain_until', shipment.retain_until,
        'files', (select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
          from file where file.shipment_id = shipment.id::text)
      ) order by shipment.retain_until, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.retain_until < (now() at time zone 'UTC')::date
    ),
    'files', (
      select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
      from file
      left join public.shipments as shipment on shipment.id::text = file.shipment_id
      where shipment.id is null
        or (
          shipment.retain_until >= (now() at time zone 'UTC')::date
          and file.created_at < now() - interval '1 day'
          and not exists (select from public.documents where documents.storage_path = file.name)
        )
    ),
    'accounts', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'email', account.email, 'last_seen', account.last_seen
      ) order by account.last_seen, account.id), '[]'::jsonb)
      from account
      where account.last_seen < now() - interval '7 years'
    )
  )
$$;
