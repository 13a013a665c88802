-- Documents of a shipment, and the private bucket that holds their files.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete restrict,
  name text not null check (char_length(name) between 1 and 120),
  uploaded boolean not null default false,
  verified boolean not null default false,
  storage_path text unique,
  unique (shipment_id, name),
  check (uploaded = (storage_path is not null)),
  check (uploaded or not verified)
);
create index documents_user_id on public.documents (user_id);

alter table public.documents enable row level security;
revoke all on table public.documents from anon, authenticated;
grant select on table public.documents to authenticated;
grant update (uploaded, storage_path) on table public.documents to authenticated;
grant select, insert, update, delete on table public.documents to service_role;

create policy "an account with a second factor needs its code" on public.documents
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read their own documents" on public.documents
for select to authenticated
using (user_id = (select auth.uid()));

create policy "clients mark their own documents as uploaded" on public.documents
for update to authenticated
using (user_id = (select auth.uid()))
with check (user_id = (select auth.uid()));

-- The four default documents, in the transaction that makes the shipment. The same list is in app/models/document.ts.
create function private.add_default_documents() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  insert into public.documents (shipment_id, user_id, name)
  select new.id, new.user_id, unnest(array[
    'Commercial Invoice', 'Packing List', 'Insurance Certificate', 'Bill of Lading'
  ]);
  return new;
end
$$;
revoke all on function private.add_default_documents() from public, anon, authenticated;

create trigger add_default_documents
after insert on public.shipments
for each row execute function private.add_default_documents();

-- A document counts as uploaded only while its file is in the bucket, and a file that counts is never exchanged.
create function private.guard_document_file() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if old.uploaded and (new.uploaded, new.storage_path) is distinct from (old.uploaded, old.storage_path) then
    raise sqlstate 'PT409' using message = 'This document has been uploaded already.';
  end if;
  if new.uploaded and not old.uploaded then
    if new.storage_path is null
      or not starts_with(
        new.storage_path,
        new.user_id || '/' || new.shipment_id || '/' || private.document_slug(new.name) || '-'
      )
      or not exists (
        select 1 from storage.objects where bucket_id = 'documents' and name = new.storage_path
      )
    then
      raise sqlstate 'PT409' using message = 'The file of this document is not in the document store.';
    end if;
  end if;
  return new;
end
$$;
revoke all on function private.guard_document_file() from public, anon, authenticated;

create trigger guard_document_file
before update on public.documents
for each row execute function private.guard_document_file();

-- The first part of a stored file's name, 'bill-of-lading' for 'Bill of Lading'; as in app/models/document.ts.
create function private.document_slug(document_name text) returns text
language sql immutable
set search_path = ''
as $$
  select lower(btrim(regexp_replace(document_name, '[^A-Za-z0-9]+', '-', 'g'), '-'))
$$;

-- Whether the signed-in client may write this object: user-id/shipment-id/document-name-filename, for a document of
-- theirs that has no file yet, and not a file that counts for another document.
create function private.document_awaits(object_name text) returns boolean
language sql stable
set search_path = ''
as $$
  select exists (
    select 1
    from public.documents as document
    where document.user_id = (select auth.uid())
      and document.shipment_id = (
        case
          when split_part(object_name, '/', 2) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          then split_part(object_name, '/', 2)::uuid
        end
      )
      and not document.uploaded
      and split_part(object_name, '/', 1) = document.user_id::text
      and starts_with(split_part(object_name, '/', 3), private.document_slug(document.name) || '-')
      and split_part(object_name, '/', 4) = ''
  )
  and not exists (select 1 from public.documents as counted where counted.storage_path = object_name)
$$;
revoke all on function private.document_slug(text) from public;
revoke all on function private.document_awaits(text) from public;
grant execute on function private.document_slug(text) to authenticated, service_role;
grant execute on function private.document_awaits(text) to authenticated, service_role;

-- 10 MiB; the types are those of app/models/document.ts.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('documents', 'documents', false, 10485760, array[
  'application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/tiff',
  'text/plain', 'text/csv', 'application/rtf',
  'application/msword', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.text'
]);

create policy "an account with a second factor needs its code" on storage.objects
as restrictive for all to authenticated
using (bucket_id <> 'documents' or (select private.assurance_suffices()))
with check (bucket_id <> 'documents' or (select private.assurance_suffices()));

create policy "clients read the files in their own folder" on storage.objects
for select to authenticated
using (bucket_id = 'documents' and (storage.foldername(name))[1] = (select auth.uid())::text);

create policy "clients store files for documents that await one" on storage.objects
for insert to authenticated
with check (bucket_id = 'documents' and private.document_awaits(name));

create policy "clients store a file again until it counts" on storage.objects
for update to authenticated
using (bucket_id = 'documents' and private.document_awaits(name))
with check (bucket_id = 'documents' and private.document_awaits(name));

create policy "clients take back a file that does not count" on storage.objects
for delete to authenticated
using (
  bucket_id = 'documents'
  and (storage.foldername(name))[1] = (select auth.uid())::text
  and not exists (select 1 from public.documents where storage_path = storage.objects.name)
);
